/** Funding accounts that bounced, and what playbooks say of the failures that retries own. */
export function incidents(): string[] {
  return [
    `create table incidents (
      business_id text not null,
      source_id text not null,
      business text not null,
      workflow_id text not null,
      round bigint not null,
      phase text not null,
      code text not null,
      reason text not null,
      hold_id text not null,
      roles text not null,
      opened_at_ms bigint not null,
      decision text,
      decided_by text,
      decided_at_ms bigint,
      decided_business_ms bigint,
      primary key (business_id, source_id)
    )`,
    `create unique index incidents_by_workflow on incidents (workflow_id)`,
    `create table retry_cases (
      business_id text not null,
      payable_id text not null,
      failed_at_ms bigint not null,
      failed_real_ms bigint not null,
      source_id text not null,
      rule text not null,
      give_up_after_days bigint not null,
      give_up_tell text not null,
      waits_for text,
      primary key (business_id, payable_id)
    )`,
    `create index retry_cases_waiting on retry_cases (business_id, source_id)
       where waits_for is not null`,
  ];
}
