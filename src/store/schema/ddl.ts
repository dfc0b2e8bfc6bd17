/** The few parts of a table's definition that differ between databases. */
export interface DdlDialect {
  /** Type of a key that the database counts up. */
  readonly countedKey: string;
  /**
   * Statements after which the table refuses changes and deletions, whatever their form: REPLACE
   * and TRUNCATE too.
   */
  appendOnly(table: string): string[];
  /**
   * A table whose rows stay, and whose named columns are written once: while `column` is `open`.
   *
   * @param create its `create table`, one column a line: all that aren't named never change
   * @returns that statement, and those after which the table refuses all else
   */
  writtenOnce(create: string, rule: WrittenOnce): string[];
  /** Statements after which each new entry of the trail moves its business's end. */
  readonly keepAuditEnds: readonly string[];
  /** A statement of the schema as this database takes it. */
  adapt(statement: string): string;
  /** Tables and functions that only this kind of database needs, made before all others. */
  readonly own: readonly string[];
}

export interface WrittenOnce {
  readonly column: string;
  /** What the column holds as long as the row may still be written. */
  readonly open: string;
  /** What may change then; nothing may afterwards. */
  readonly columns: readonly string[];
}

/** Words with which a line of a table begins that is no column. */
const CONSTRAINTS = ["check", "constraint", "foreign", "primary", "unique"];

/**
 * The updates of a table that is written once that have to be refused, as a trigger's condition.
 *
 * SQLite can't compare whole rows, so each column that never changes is named in it.
 */
export function refusedChange(
  create: string,
  { column, open, columns }: WrittenOnce,
): { readonly table: string; readonly condition: string } {
  const table = /^\s*create table (\w+) \(\n/.exec(create)?.[1];
  const all = create
    .split("\n")
    .slice(1, -1)
    .map((line) => line.trim().split(" ")[0] ?? "")
    .filter((word) => !CONSTRAINTS.includes(word));
  const unknown = [column, ...columns].filter((name) => !all.includes(name));
  if (table === undefined || unknown.length > 0) {
    throw new Error(`no table with the columns ${unknown.join(", ")}: ${create}`);
  }
  const fixed = all.filter((name) => !columns.includes(name));
  const changed = fixed.map((name) => `old."${name}" is distinct from new."${name}"`);
  const condition = [`old."${column}" is distinct from '${open}'`, ...changed].join(" or ");
  return { table, condition };
}
