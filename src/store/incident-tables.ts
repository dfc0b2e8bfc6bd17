import type { IncidentDecision, IncidentPhase } from "../contracts/incident.ts";

/** What an owner of a failed payable waits for, besides a date or a person. */
export type CaseWait = "incident" | "funds" | "bank-account" | "either-side";

/** A funding account that bounced: one row an account, one round an incident. */
export interface IncidentsTable {
  business_id: string;
  source_id: string;
  business: string;
  workflow_id: string;
  /** 1, 2, … */
  round: number;
  phase: IncidentPhase;
  /** Return code or another word for what happened. */
  code: string;
  reason: string;
  hold_id: string;
  /** JSON array of roles that decide. */
  roles: string;
  opened_at_ms: number;
  decision: IncidentDecision | null;
  decided_by: string | null;
  decided_at_ms: number | null;
  /** Business-clock instant: failures before it belong to the round that was decided. */
  decided_business_ms: number | null;
}

/** What a playbook says of a failure that a retry owns: kept, so that it keeps its revision. */
export interface RetryCasesTable {
  business_id: string;
  payable_id: string;
  /** Business-clock instant at which the first failure of the case was dealt with. */
  failed_at_ms: number;
  /** The same in real time. */
  failed_real_ms: number;
  source_id: string;
  /** FailureRule as JSON. */
  rule: string;
  give_up_after_days: number;
  /** JSON array of roles. */
  give_up_tell: string;
  waits_for: CaseWait | null;
}

/** What a retryFailedPayment workflow knows about its payable. */
export interface RetriesTable {
  business_id: string;
  payable_id: string;
  /** The profile's name. */
  business: string;
  workflow_id: string;
  /** Run whose line it took over, or null. */
  run_id: string | null;
  phase: string;
  reason_code: string | null;
  reason: string | null;
  retries_made: number;
  /** JSON array of payment ids whose failure has been dealt with. */
  handled_payment_ids: string;
  /** A person's resolution that waits to be acted on. */
  requested: "retry" | null;
  requested_by: string | null;
  /** `YYYY-MM-DD` on which the next payment is announced to run; null where no day is set. */
  retry_on: string | null;
  /** Why the approval of its line covers no further payment; null where it does, or nobody knows. */
  approval_ended: string | null;
  look: number;
  started_at_ms: number;
  updated_at_ms: number;
}
