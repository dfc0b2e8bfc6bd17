import type { DdlDialect } from "./ddl.ts";

/** The audit trail, the playbooks by revision, and what only one process does at a time. */
export const recordTables = (ddl: DdlDialect): string[] => [
  `create table audit (
    audit_id ${ddl.countedKey},
    business_id text not null,
    at_ms bigint not null,
    actor text not null,
    action text not null,
    subject text not null,
    details text not null,
    prev_hash text not null,
    hash text not null
  )`,
  `create index audit_of_business on audit (business_id, audit_id)`,
  `create index audit_of_subject on audit (business_id, subject, audit_id)`,
  `create unique index audit_chain on audit (business_id, prev_hash)`,
  ...ddl.appendOnly("audit"),
  // Where each business's trail ends, kept by the database itself with every entry.
  `create table audit_ends (
    business_id text primary key not null,
    entries bigint not null,
    hash text not null
  )`,
  ...ddl.keepAuditEnds,
  `create table playbooks (
    name text not null,
    revision bigint not null,
    kind text not null,
    business text,
    text text not null,
    compiled text not null,
    author text not null,
    author_token_id text,
    created_at_ms bigint not null,
    primary key (name, revision)
  )`,
  `create table leases (
    name text primary key not null,
    holder text not null,
    until_ms bigint not null
  )`,
];
