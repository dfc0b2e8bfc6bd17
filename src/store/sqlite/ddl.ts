/** The few parts of a table's definition that differ between databases. */
export interface DdlDialect {
  /** Type of a key that the database counts up. */
  readonly countedKey: string;
  /** Statements after which the table refuses changes and deletions. */
  appendOnly(table: string): string[];
}

export const sqliteDdl: DdlDialect = {
  countedKey: "integer primary key autoincrement",
  appendOnly(table) {
    return ["update", "delete"].map(
      (act) =>
        `create trigger ${table}_no_${act} before ${act} on ${table} begin
           select raise(abort, '${table} only grows: ${act} refused');
         end`,
    );
  },
};
