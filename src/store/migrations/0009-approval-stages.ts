/** Approvals one after the other, and how long each is waited for. */
export function approvalStages(): string[] {
  return [
    // The stages of rules that have several; what a rule of one asks for is its lines' quorum.
    `create table approval_stages (
      run_id text not null,
      rule_index bigint not null,
      stage bigint not null,
      quorum bigint not null,
      primary key (run_id, rule_index, stage)
    )`,
    `alter table line_approvals add column stage bigint not null default 0`,
    `alter table line_approvals add column escalated bigint not null default 0`,
    `alter table run_lines add column rule_index bigint not null default -1`,
    `alter table run_lines add column stage bigint not null default 0`,
    `alter table run_lines add column stage_since_ms bigint`,
    `alter table run_lines add column stage_real_ms bigint`,
    `alter table run_lines add column remind_at_ms bigint`,
    `alter table run_lines add column escalate_at_ms bigint`,
    `alter table run_lines add column escalated bigint not null default 0`,
  ];
}
