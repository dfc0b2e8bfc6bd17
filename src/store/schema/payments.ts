/** What keeps a bill from being paid twice, and what waits before it is paid. */
export const paymentTables: readonly string[] = [
  `create table claims (
    business_id text not null,
    payable_id text not null,
    owner text not null,
    claimed_at_ms bigint not null,
    primary key (business_id, payable_id)
  )`,
  `create index claims_of_owner on claims (owner)`,
  `create table holds (
    hold_id text primary key not null,
    business_id text not null,
    scope text not null,
    value text not null,
    reason text not null,
    author text not null,
    created_at_ms bigint not null,
    until_ms bigint,
    released_at_ms bigint,
    released_by text
  )`,
  `create index holds_of_business on holds (business_id, released_at_ms)`,
  `create table business_waits (
    business_id text not null,
    source_id text not null,
    code text not null,
    message text not null,
    since_ms bigint not null,
    retry_at_ms bigint not null,
    tries bigint not null,
    primary key (business_id, source_id, code)
  )`,
];
