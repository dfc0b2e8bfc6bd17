/** What arrived, who waits for it, and what it has started. */
export const eventTables: readonly string[] = [
  `create table inbox (
    business_id text not null,
    event_id text not null,
    type text not null,
    sequence text not null,
    object text not null,
    object_id text not null,
    created_at text not null,
    received_at_ms bigint not null,
    via text not null,
    body text not null,
    dispatched_at_ms bigint,
    primary key (business_id, event_id)
  )`,
  `create index inbox_of_object on inbox (business_id, object_id)`,
  `create index inbox_waiting on inbox (received_at_ms) where dispatched_at_ms is null`,
  `create table watches (
    business_id text not null,
    payable_id text not null,
    business text not null,
    owner text not null,
    until_ms bigint not null,
    primary key (business_id, payable_id)
  )`,
  `create index watches_until on watches (until_ms)`,
  `create table tellings (
    telling_id text primary key not null,
    business_id text not null,
    workflow_id text not null,
    at_ms bigint not null
  )`,
  `create index tellings_by_age on tellings (at_ms)`,
  `create table event_starts (
    business_id text not null,
    playbook text not null,
    event_id text not null,
    target text not null,
    type text not null,
    object_id text not null,
    state text not null,
    due_at_ms bigint not null,
    workflow_id text,
    noted_at_ms bigint not null,
    recorded_at_ms bigint,
    primary key (business_id, playbook, event_id, target)
  )`,
  `create index event_starts_open on event_starts (due_at_ms)
     where state in ('waiting', 'recorded')`,
  `create index event_starts_of_object on event_starts (business_id, playbook, object_id)`,
  `create index event_starts_of_workflow on event_starts (workflow_id)`,
];
