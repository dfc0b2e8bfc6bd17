/** One row per idempotency key; only grows. */
export interface AttemptsTable {
  attempt_id: string;
  business_id: string;
  /** A payable id, or what names a payment to cancel or a deposit (`contracts/names.ts`). */
  subject: string;
  seq: number;
  operation: string;
  idempotency_key: string;
  created_at_ms: number;
}

/** One row per request that may leave; its result is written once, by its sender. */
export interface SendsTable {
  /** Random: only its sender knows it. */
  send_id: string;
  attempt_id: string;
  business_id: string;
  subject: string;
  seq: number;
  send_no: number;
  /** Workflow id. */
  owner: string;
  sent_by: string;
  path: string;
  /** Exact bytes; empty text for a request without a body. */
  body: string;
  approved_hash: string;
  contact_id: string;
  source_id: string;
  rail: string;
  amount_cents: number;
  execution_date: string;
  /** JSON array: ids that were there before the key's first send. */
  baseline: string;
  /** Database clock. */
  opened_at_ms: number;
  /** The service's clock at the same moment, where it had been heard. */
  opened_service_ms: number | null;
  /** Database clock: its bytes leave before, or never. */
  leave_by_ms: number;
  result: string;
  status: number | null;
  code: string | null;
  message: string | null;
  /** Database clock. */
  answered_at_ms: number | null;
  /** The answer's own `Date`. */
  answer_date_ms: number | null;
  /** JSON array: what the answer says it made. */
  made_ids: string;
}

/** Answers that came after another had been written for their send. */
export interface LateAnswersTable {
  late_answer_id: string;
  send_id: string;
  business_id: string;
  subject: string;
  result: string;
  status: number | null;
  code: string | null;
  made_ids: string;
  at_ms: number;
}

/** Everything that the service showed of a subject at one moment. */
export interface LooksTable {
  look_id: string;
  business_id: string;
  subject: string;
  /** Database clock, before the first page was asked for. */
  begun_at_ms: number;
  begun_service_ms: number | null;
  /** 1 where the counts of all pages agreed. */
  is_whole: number;
  /** JSON array. */
  shown_ids: string;
  recorded_at_ms: number;
}

export interface AdoptionsTable {
  business_id: string;
  found_id: string;
  attempt_id: string;
  subject: string;
  operation: string;
  at_ms: number;
}

/** Subjects of which a send may still take effect. */
export interface OpenSubjectsTable {
  business_id: string;
  subject: string;
  operation: string;
  /** Workflow id of the last send. */
  owner: string;
  /** Database clock. */
  since_ms: number;
}
