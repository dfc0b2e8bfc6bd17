import type { Table, WrittenOnce } from "./table.ts";

/** The few parts of a table's definition that differ between databases. */
export interface DdlDialect {
  /** Type of a key that the database counts up. */
  readonly countedKey: string;
  /**
   * Statements after which the table refuses changes and deletions, whatever their form: REPLACE
   * and TRUNCATE too.
   */
  appendOnly(table: string): string[];
  /** Statements after which the table refuses deletions, and updates of which the condition is true. */
  writtenOnce(table: string, condition: string): string[];
  /** Statements after which each new entry of the trail moves its business's end. */
  readonly keepAuditEnds: readonly string[];
  /** A statement of the schema as this database takes it. */
  adapt(statement: string): string;
  /** Tables and functions that only this kind of database needs, made before all others. */
  readonly own: readonly string[];
}

/** The statements that make a table, and that let it refuse what must not happen to its rows. */
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
 * The updates of a table that is written once that have to be refused, as a trigger's condition.
 *
 * SQLite can't compare whole rows, so each column that never changes is named in it.
 */
function refusedChange(all: readonly string[], { column, open, columns }: WrittenOnce): string {
  const fixed = all.filter((name) => !columns.includes(name));
  const changed = fixed.map((name) => `old."${name}" is distinct from new."${name}"`);
  return [`old."${column}" is distinct from '${open}'`, ...changed].join(" or ");
}
