import type { Table, WrittenOnce } from "./table.ts";

/** The few parts of a table's definition that differ between databases. */
export interface DdlDialect {
  /** Type of a key that the database increments. */
  readonly countedKey: string;
  /**
   * Statements that make the table refuse changes and deletions in any form, REPLACE and TRUNCATE
   * included.
   */
  appendOnly(table: string): string[];
  /** Statements that make the table refuse deletions, and updates that meet the condition. */
  writtenOnce(table: string, condition: string): string[];
  /**
   * Statements that make each new entry of a trail move the recorded end of its business's trail.
   */
  readonly keepAuditEnds: readonly string[];
  /** Returns a statement of the schema in this database's dialect. */
  adapt(statement: string): string;
  /** Tables and functions that only this kind of database needs, created before all others. */
  readonly own: readonly string[];
}

/** Returns the statements that create a table and make it refuse forbidden changes to its rows. */
export function tableStatements(name: string, table: Table, ddl: DdlDialect): string[] {
  const { columns, key, onlyGrows, writtenOnce } = table;
  const hasOneKey = key.length === 1;
  const lines = Object.entries(columns).map(([column, { type, mayBeNull }]) => {
    if (type === "counted") return `${column} ${ddl.countedKey}`;
    const isKey = hasOneKey && key.includes(column) ? " primary key" : "";
    const sqlType = type === "integer" ? "bigint" : "text";
    return `${column} ${sqlType}${isKey}${mayBeNull ? "" : " not null"}`;
  });
  if (!hasOneKey) lines.push(`primary key (${key.join(", ")})`);
  const create = `create table ${name} (\n${lines.join(",\n")}\n)`;
  if (onlyGrows) return [create, ...ddl.appendOnly(name)];
  if (writtenOnce === undefined) return [create];
  return [create, ...ddl.writtenOnce(name, refusedChange(Object.keys(columns), writtenOnce))];
}

/**
 * Returns a trigger's condition for the updates that a table that is written once has to refuse.
 *
 * SQLite can't compare whole rows, so the condition names each column that never changes.
 */
function refusedChange(all: readonly string[], { column, open, columns }: WrittenOnce): string {
  const fixed = all.filter((name) => !columns.includes(name));
  const changed = fixed.map((name) => `old."${name}" is distinct from new."${name}"`);
  return [`old."${column}" is distinct from '${open}'`, ...changed].join(" or ");
}
