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
