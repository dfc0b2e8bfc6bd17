/** Deposits into the balance that runs and incidents have asked for. */
export const topUpTables: readonly string[] = [
  `create table top_ups (
    business_id text not null,
    subject text not null,
    business text not null,
    source_id text not null,
    owner text not null,
    request_no bigint not null,
    policy_run_id text not null,
    state text not null,
    amount_cents bigint not null,
    needed_on text not null,
    make_by text not null,
    arrives_on text not null,
    late bigint not null,
    bank_account_id text not null,
    bank_name text,
    bank_last4 text,
    plan_hash text not null,
    hash text not null,
    approvers text not null,
    quorum bigint not null,
    transaction_id text,
    reason_code text,
    reason text,
    not_before_ms bigint not null,
    since_ms bigint not null,
    poll_at_ms bigint not null,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    primary key (business_id, subject)
  )`,
  `create unique index top_ups_open on top_ups (owner, source_id)
     where state in ('proposed', 'sending', 'on-its-way')`,
  `create index top_ups_moving on top_ups (business_id, source_id)
     where state in ('sending', 'on-its-way')`,
  `create unique index top_ups_by_transaction on top_ups (business_id, transaction_id)
     where transaction_id is not null`,
  `create index top_ups_of_owner on top_ups (owner, request_no)`,
];
