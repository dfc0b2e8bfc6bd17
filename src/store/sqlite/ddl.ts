import type { DdlDialect } from "../migrations/ddl.ts";

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
  adapt: (statement) => statement,
  ownTables: [],
};
