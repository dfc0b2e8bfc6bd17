import type { DdlDialect } from "./ddl.ts";

/** Where each business's audit trail ends, kept by the database itself with every entry. */
export function auditEnds(ddl: DdlDialect): string[] {
  return [
    `create table audit_ends (
      business_id text primary key not null,
      entries bigint not null,
      hash text not null
    )`,
    `insert into audit_ends (business_id, entries, hash)
       select business_id, count(*),
         (select last.hash from audit last where last.business_id = audit.business_id
            order by last.audit_id desc limit 1)
       from audit group by business_id`,
    ...ddl.keepAuditEnds,
  ];
}
