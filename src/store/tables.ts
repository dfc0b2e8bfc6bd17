import type { Generated } from "kysely";
import type { IncidentsTable, RetryCasesTable } from "./incident-tables.ts";
import type { CancellationItemsTable, CancellationsTable } from "./cancellation-tables.ts";
import type { OnboardingInputsTable, OnboardingsTable, VaultTable } from "./onboarding-tables.ts";
import type { NoticeDeliveriesTable, NoticeFactsTable, NoticesTable } from "./notice-tables.ts";

/**
 * The store's tables as queries see them.
 *
 * Instants are integers in milliseconds since 1970 (`…AtMs`), dates are `YYYY-MM-DD` texts,
 * JSON is text, booleans are 0 or 1: the subset that SQLite and PostgreSQL share.
 */
export interface Tables {
  runs: RunsTable;
  plans: PlansTable;
  plan_lines: PlanLinesTable;
  plan_skipped: PlanSkippedTable;
  run_lines: RunLinesTable;
  attempts: AttemptsTable;
  claims: ClaimsTable;
  holds: HoldsTable;
  decisions: DecisionsTable;
  line_approvals: LineApprovalsTable;
  business_waits: BusinessWaitsTable;
  retries: RetriesTable;
  retry_cases: RetryCasesTable;
  incidents: IncidentsTable;
  inbox: InboxTable;
  watches: WatchesTable;
  tokens: TokensTable;
  audit: AuditTable;
  playbooks: PlaybooksTable;
  dry_plans: DryPlansTable;
  leases: LeasesTable;
  vault: VaultTable;
  onboardings: OnboardingsTable;
  onboarding_inputs: OnboardingInputsTable;
  cancellations: CancellationsTable;
  cancellation_items: CancellationItemsTable;
  notices: NoticesTable;
  notice_facts: NoticeFactsTable;
  notice_deliveries: NoticeDeliveriesTable;
}

export interface RunsTable {
  /** Workflow id. */
  run_id: string;
  /** The API's businessId. */
  business_id: string;
  /** The profile's name. */
  business: string;
  playbook: string;
  playbook_revision: number;
  /** Compiled playbook (contracts/playbook.ts) as JSON: a running run keeps its revision. */
  policy: string;
  period: string;
  /** 1, 2, … for `/r2`: one more only after rejected, expired, cancelled or failed. */
  revision: number;
  inputs: string;
  phase: string;
  waiting_for: string | null;
  plan_hash: string | null;
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
  lease_until_ms: number | null;
  /** Service-clock instant before which the line is not drawn again (back-off, look-up window). */
  not_before_ms: number;
  /** Service-clock instant of the last full read of payable, payee and payments. */
  verified_at_ms: number;
  /** JSON array: payments of the payable seen by that read. */
  known_payment_ids: string;
  /** Business-clock instant of the next poll of its payments. */
  poll_at_ms: number;
  /** 1 where an event said "look". */
  look: number;
  dropped_by: string | null;
  updated_at_ms: number;
}

/** The attempt ledger (design, "Paying once"). At most one live row per business and subject. */
export interface AttemptsTable {
  attempt_id: string;
  business_id: string;
  /** A payable id. */
  subject: string;
  seq: number;
  operation: string;
  method: string;
  path: string;
  /** Frozen bytes; empty text for a request without a body. */
  body: string;
  idempotency_key: string;
  /** Workflow id of the run or retry that owns it. */
  owner: string;
  line_hash: string;
  contact_id: string;
  source_id: string;
  rail: string;
  amount_cents: number;
  execution_date: string;
  /** JSON array: payments known for the subject before the first send. */
  known_payment_ids: string;
  /** JSON array of AttemptSend. */
  sends: string;
  state: string;
  first_sent_at_ms: number | null;
  last_sent_at_ms: number | null;
  /** Service-clock instant when we gave up on the last send. */
  gave_up_at_ms: number | null;
  looked_up_at_ms: number | null;
  payment_ids: string;
  answer: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ClaimsTable {
  business_id: string;
  payable_id: string;
  /** Workflow id. */
  owner: string;
  claimed_at_ms: number;
}

export interface HoldsTable {
  hold_id: string;
  business_id: string;
  /** payable | contact | source | run | playbook | all */
  scope: string;
  /** Id or name within the scope; empty for all. */
  value: string;
  reason: string;
  author: string;
  created_at_ms: number;
  /** Business-clock instant, or null for without end. */
  until_ms: number | null;
  released_at_ms: number | null;
  released_by: string | null;
}

export interface DecisionsTable {
  decision_id: string;
  run_id: string;
  plan_hash: string;
  /** approve | reject */
  decision: string;
  principal: string;
  token_id: string | null;
  roles: string;
  /** JSON array of payable ids left out. */
  dropped: string;
  comment: string | null;
  decided_at_ms: number;
  /** Business-clock instant. */
  expires_at_ms: number;
  /** accepted | refused, with the reason. */
  outcome: string;
  reason: string | null;
}

/** One row per line and approver, written only where the approver's role counts for the line's rule. */
export interface LineApprovalsTable {
  run_id: string;
  payable_id: string;
  line_hash: string;
  principal: string;
  decision_id: string;
  expires_at_ms: number;
}

/** A fault of the whole business: one wait, never one per bill. */
export interface BusinessWaitsTable {
  business_id: string;
  /** Funding source id for money faults, empty for the whole business. */
  source_id: string;
  code: string;
  message: string;
  since_ms: number;
  /** Service-clock instant of the next try. */
  retry_at_ms: number;
  tries: number;
}

/** What a retryFailedPayment workflow knows about its payable. */
export interface RetriesTable {
  business_id: string;
  payable_id: string;
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
  /** A person's resolution that waits to be acted on: retry, or null. */
  requested: string | null;
  requested_by: string | null;
  retry_on: string | null;
  look: number;
  started_at_ms: number;
  updated_at_ms: number;
}

export interface InboxTable {
  business_id: string;
  event_id: string;
  type: string;
  /** Decimal text: it exceeds 2^53. */
  sequence: string;
  object: string;
  object_id: string;
  created_at: string;
  received_at_ms: number;
  /** webhook | deliveries */
  via: string;
  body: string;
  dispatched_at_ms: number | null;
}

/** Which workflow wants to hear about a payable; outlives its run by the return window. */
export interface WatchesTable {
  business_id: string;
  payable_id: string;
  business: string;
  owner: string;
  until_ms: number;
}

export interface TokensTable {
  token_id: string;
  name: string;
  token_hash: string;
  roles: string;
  created_at_ms: number;
  created_by: string;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
}

export interface AuditTable {
  audit_id: Generated<number>;
  business_id: string;
  at_ms: number;
  actor: string;
  action: string;
  subject: string;
  details: string;
  prev_hash: string;
  hash: string;
}

export interface PlaybooksTable {
  name: string;
  revision: number;
  kind: string;
  business: string | null;
  text: string;
  compiled: string;
  author: string;
  author_token_id: string | null;
  created_at_ms: number;
}

export interface DryPlansTable {
  dry_plan_id: string;
  created_at_ms: number;
  /** DryPlan as JSON. */
  plan: string;
}

/** Who may do what only one process does at a time. */
export interface LeasesTable {
  name: string;
  holder: string;
  /** Real instant. */
  until_ms: number;
}
