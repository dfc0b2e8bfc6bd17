/** Which events have started what. */
export function eventStarts(): string[] {
  return [
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
}
