export interface RunsTable {
  /** Workflow id. */
  run_id: string;
  /** The API's businessId. */
  business_id: string;
  /** The profile's name. */
  business: string;
  playbook: string;
  playbook_revision: number;
  /** The playbook as it was at the launch, compiled and as JSON: a running run keeps its revision. */
  policy: string;
  /** `YYYY-MM-DD`, the nominal fire time's date. */
  period: string;
  /** 1, 2, … for `/r2`: one more only after rejected, expired, cancelled or failed. */
  revision: number;
  inputs: string;
  phase: string;
  waiting_for: string | null;
  plan_hash: string | null;
  /** 0 before the first plan. */
  plan_no: number;
  total_cents: number;
  launched_by: string;
  launched_by_token_id: string | null;
  launched_at_ms: number;
  cancel_requested_at_ms: number | null;
  cancel_requested_by: string | null;
  ended_at_ms: number | null;
  /** Real instant of the first plan, and business-clock instant until which it may be approved. */
  planned_at_ms: number | null;
  approve_by_ms: number | null;
  /** Last reason a run failed, for people. */
  failure: string | null;
}

/** One row per plan of a run; a changed line makes the next one. Insert-only. */
export interface PlansTable {
  run_id: string;
  /** 1, 2, …: one more each time a line was planned anew. */
  plan_no: number;
  plan_hash: string;
  /** PlanSummary as JSON. */
  summary: string;
  created_at_ms: number;
}

/** Insert-only: what was planned for a payable, by version. */
export interface PlanLinesTable {
  run_id: string;
  payable_id: string;
  version: number;
  line_no: number;
  line_hash: string;
  contact_id: string;
  amount_cents: number;
  execution_date: string;
  source_id: string;
  /** PlanLine as JSON. */
  line: string;
}

export interface PlanSkippedTable {
  run_id: string;
  payable_id: string;
  code: string;
  /** SkippedLine as JSON. */
  skipped: string;
}

/** Where each line of a run stands; the mutable side of plan_lines. */
export interface RunLinesTable {
  run_id: string;
  payable_id: string;
  business_id: string;
  /** Version of plan_lines that holds now. */
  version: number;
  /** Its place in the plan, from 1. */
  line_no: number;
  line_hash: string;
  contact_id: string;
  source_id: string;
  amount_cents: number;
  execution_date: string;
  quorum: number;
  state: string;
  reason_code: string | null;
  reason: string | null;
  /** JSON array. */
  payment_ids: string;
  attempts: number;
  /** 1 once the funding step has found the money for it. */
  funded: number;
  /** Fencing: one more with every draw; a result of an older epoch never downgrades. */
  lease_epoch: number;
  lease_owner: string | null;
  /** Until when whoever has drawn it may send; null while nobody has. */
  lease_until_ms: number | null;
  /** Service-clock instant before which the line is not drawn again (back-off, look-up window). */
  not_before_ms: number;
  /** How often in a row drawing it came to nothing, and since when (service's clock). */
  rests: number;
  rest_since_ms: number | null;
  /** Business-clock instant of the next poll of its payments. */
  poll_at_ms: number;
  /** 1 where an event said "look". */
  look: number;
  dropped_by: string | null;
  updated_at_ms: number;
  /** Rule of the run's policy. */
  rule_index: number;
  /** Stage that was open when it was last looked at, from 0. */
  stage: number;
  /** Business-clock and real instant since which the approvers of the stage are asked. */
  stage_since_ms: number | null;
  stage_real_ms: number | null;
  /** Business-clock instants of the next reminder and of the escalation, where there is one. */
  remind_at_ms: number | null;
  escalate_at_ms: number | null;
  /** 1 once the stage was escalated. */
  escalated: number;
}

export interface DryPlansTable {
  dry_plan_id: string;
  created_at_ms: number;
  /** What the plan says of no single bill, and which lines are its, as JSON. */
  plan: string;
}

/** Bills of one computation of a dry plan. */
export interface DryPlanLinesTable {
  lines_id: string;
  /** From 1; those that would be paid come first. */
  line_no: number;
  /** 1: left out. */
  skipped: number;
  /** PlanLine or SkippedLine as JSON. */
  line: string;
  created_at_ms: number;
}
