/** Who decided what, and with which token. */
export const decisionTables: readonly string[] = [
  `create table decisions (
    decision_id text primary key not null,
    run_id text not null,
    plan_hash text not null,
    decision text not null,
    principal text not null,
    token_id text,
    roles text not null,
    dropped text not null,
    comment text,
    decided_at_ms bigint not null,
    expires_at_ms bigint not null,
    outcome text not null,
    reason text
  )`,
  `create index decisions_of_run on decisions (run_id, decided_at_ms)`,
  `create table line_approvals (
    run_id text not null,
    payable_id text not null,
    line_hash text not null,
    principal text not null,
    decision_id text not null,
    expires_at_ms bigint not null,
    stage bigint not null,
    escalated bigint not null,
    primary key (run_id, payable_id, line_hash, principal)
  )`,
  // The stages of rules that have several; what a rule of one asks for is its lines' quorum.
  `create table approval_stages (
    run_id text not null,
    rule_index bigint not null,
    stage bigint not null,
    quorum bigint not null,
    primary key (run_id, rule_index, stage)
  )`,
  `create table tokens (
    token_id text primary key not null,
    name text not null,
    token_hash text not null,
    roles text not null,
    created_at_ms bigint not null,
    created_by text not null,
    expires_at_ms bigint,
    revoked_at_ms bigint
  )`,
  `create unique index tokens_by_hash on tokens (token_hash)`,
  `create index tokens_of_creator on tokens (created_by, created_at_ms)`,
];
