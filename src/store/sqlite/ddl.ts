import type { DdlDialect } from "../schema/ddl.ts";

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
  keepAuditEnds: [
    `create trigger audit_moves_end after insert on audit begin
       insert into audit_ends (business_id, entries, hash) values (new.business_id, 1, new.hash)
       on conflict (business_id) do update set entries = entries + 1, hash = excluded.hash;
     end`,
  ],
  adapt: (statement) => statement,
  own: [],
};
