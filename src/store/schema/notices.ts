/** What people are told, and how far the telling is. */
export const noticeTables: readonly string[] = [
  `create table notices (
    notice_id text primary key not null,
    business_id text not null,
    kind text not null,
    fact_key text not null,
    run_id text,
    subject text not null,
    text text not null,
    roles text not null,
    data text not null,
    contact_id text,
    created_at_ms bigint not null,
    routed_at_ms bigint,
    route_at_ms bigint not null,
    route_tries bigint not null,
    route_problem text
  )`,
  `create unique index notices_of_fact on notices (business_id, kind, fact_key)`,
  `create index notices_by_time on notices (created_at_ms)`,
  `create index notices_of_run on notices (run_id)`,
  `create index notices_to_route on notices (route_at_ms) where routed_at_ms is null`,
  `create table notice_facts (
    business_id text not null,
    kind text not null,
    fact_key text not null,
    notice_id text not null,
    primary key (business_id, kind, fact_key)
  )`,
  `create table notice_deliveries (
    delivery_id text primary key not null,
    notice_id text not null,
    business_id text not null,
    channel text not null,
    target text not null,
    state text not null,
    tries bigint not null,
    next_try_at_ms bigint not null,
    claimed_by text,
    claimed_until_ms bigint not null,
    problem text,
    created_at_ms bigint not null,
    ended_at_ms bigint
  )`,
  `create index notice_deliveries_of_notice on notice_deliveries (notice_id)`,
  `create index notice_deliveries_due on notice_deliveries (next_try_at_ms)
     where state = 'pending'`,
  `create index notice_deliveries_failed on notice_deliveries (created_at_ms)
     where state = 'undeliverable'`,
];
