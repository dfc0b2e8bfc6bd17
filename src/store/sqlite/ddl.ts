import type { DdlDialect } from "../schema/ddl.ts";

/** REPLACE counts as a deletion, as our connections have it fire triggers (`connection.ts`). */
function onlyGrows(table: string, act: "update" | "delete"): string {
  return `create trigger ${table}_no_${act} before ${act} on ${table} begin
           select raise(abort, '${table} only grows: ${act} refused');
         end`;
}

export const sqliteDdl: DdlDialect = {
  countedKey: "integer primary key autoincrement",
  appendOnly: (table) => [onlyGrows(table, "update"), onlyGrows(table, "delete")],
  writtenOnce: (table, condition) => [
    `create trigger ${table}_written_once before update on ${table} when ${condition} begin
       select raise(abort, '${table} is written once: update refused');
     end`,
    onlyGrows(table, "delete"),
  ],
  keepAuditEnds: [
    `create trigger audit_moves_end after insert on audit begin
       insert into audit_ends (business_id, entries, hash) values (new.business_id, 1, new.hash)
       on conflict (business_id) do update set entries = entries + 1, hash = excluded.hash;
     end`,
  ],
  adapt: (statement) => statement,
  own: [],
};
