/** The few parts of a table's definition that differ between databases. */
export interface DdlDialect {
  /** Type of a key that the database counts up. */
  readonly countedKey: string;
  /** Statements after which the table refuses changes and deletions. */
  appendOnly(table: string): string[];
  /** Statements after which each new entry of the trail moves its business's end. */
  readonly keepAuditEnds: readonly string[];
  /** A statement of the schema as this database takes it. */
  adapt(statement: string): string;
  /** Tables and functions that only this kind of database needs, made before all others. */
  readonly own: readonly string[];
}
