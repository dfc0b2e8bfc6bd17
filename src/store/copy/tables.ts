import type { Tables } from "../tables.ts";

type Keys = { readonly [Table in keyof Tables]: readonly (keyof Tables[Table] & string)[] };

/** Every table with the columns that tell its rows apart, in the order in which they are copied. */
export const TABLE_KEYS: Keys = {
  runs: ["run_id"],
  plans: ["run_id", "plan_no"],
  plan_lines: ["run_id", "payable_id", "version"],
  plan_skipped: ["run_id", "payable_id"],
  run_lines: ["run_id", "payable_id"],
  attempts: ["attempt_id"],
  claims: ["business_id", "payable_id"],
  holds: ["hold_id"],
  decisions: ["decision_id"],
  line_approvals: ["run_id", "payable_id", "line_hash", "principal"],
  approval_stages: ["run_id", "rule_index", "stage"],
  business_waits: ["business_id", "source_id", "code"],
  retries: ["business_id", "payable_id"],
  retry_cases: ["business_id", "payable_id"],
  incidents: ["business_id", "source_id"],
  inbox: ["business_id", "event_id"],
  watches: ["business_id", "payable_id"],
  tokens: ["token_id"],
  audit: ["audit_id"],
  audit_ends: ["business_id"],
  playbooks: ["name", "revision"],
  dry_plans: ["dry_plan_id"],
  dry_plan_lines: ["lines_id", "line_no"],
  leases: ["name"],
  vault: ["vault_ref"],
  onboardings: ["business_id"],
  onboarding_inputs: ["input_id"],
  cancellations: ["workflow_id"],
  cancellation_items: ["workflow_id", "item_no"],
  notices: ["notice_id"],
  notice_facts: ["business_id", "kind", "fact_key"],
  notice_deliveries: ["delivery_id"],
  event_starts: ["business_id", "playbook", "event_id", "target"],
  top_ups: ["business_id", "subject"],
  seen_payments: ["business_id", "payment_id"],
  late_passes: ["business_id"],
};

export const TABLE_NAMES = Object.keys(TABLE_KEYS) as readonly (keyof Tables)[];
