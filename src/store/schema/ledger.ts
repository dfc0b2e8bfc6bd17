import {
  flag,
  growing,
  integer,
  integerOrNull,
  json,
  table,
  text,
  textOrNull,
  writtenOnce,
} from "./table.ts";

/** Results after which a send may still take effect (rule 5), in the order of the index of them. */
export const OPEN_RESULTS = ["pending", "unknown", "conflict", "unconfirmed"] as const;

/** A send's result is written once, by its sender. */
const RESULT = {
  column: "result",
  open: "pending",
  columns: ["result", "status", "code", "message", "answered_at_ms", "answer_date_ms", "made_ids"],
} as const;

/**
 * What was sent, and what was seen of it (`src/ledger`). Rows are only added, a send's result is
 * written once, and nothing is ever taken back.
 */
export const ledgerTables = {
  /** One row per idempotency key; only grows. */
  attempts: growing(["business_id", "subject", "seq"], {
    attempt_id: text,
    business_id: text,
    /** A payable id, or the name of a payment to cancel or of a deposit (`contracts/names.ts`). */
    subject: text,
    seq: integer,
    operation: text,
    idempotency_key: text,
    created_at_ms: integer,
  }),
  /** One row per request that may leave; its result is written once, by its sender. */
  sends: writtenOnce(RESULT, ["business_id", "subject", "seq", "send_no"], {
    /** Random: only its sender knows it. */
    send_id: text,
    attempt_id: text,
    business_id: text,
    subject: text,
    seq: integer,
    send_no: integer,
    /** Workflow id. */
    owner: text,
    sent_by: text,
    path: text,
    /** Exact bytes; empty text for a request without a body. */
    body: text,
    /** Empty if the subject isn't a line of a run. */
    run_id: text,
    approved_hash: text,
    contact_id: text,
    source_id: text,
    rail: text,
    amount_cents: integer,
    execution_date: text,
    /** JSON array: ids that existed before the key's first send. */
    baseline: json<readonly string[]>(),
    /** Database clock. */
    opened_at_ms: integer,
    /** The latest that the service's clock may have shown then; null if it wasn't known yet. */
    opened_service_ms: integerOrNull,
    /** Database clock: the bytes leave before this instant, or never. */
    leave_by_ms: integer,
    result: text,
    status: integerOrNull,
    code: textOrNull,
    message: textOrNull,
    /** Database clock. */
    answered_at_ms: integerOrNull,
    /** The answer's own `Date`. */
    answer_date_ms: integerOrNull,
    /** JSON array: ids of what the answer says it made. */
    made_ids: json<readonly string[]>(),
  }),
  /** Answers that came after another one had been written for their send. */
  late_answers: growing(["late_answer_id"], {
    late_answer_id: text,
    send_id: text,
    business_id: text,
    subject: text,
    result: text,
    status: integerOrNull,
    code: textOrNull,
    made_ids: json<readonly string[]>(),
    at_ms: integer,
  }),
  /** Everything that the service showed of a subject at one moment. */
  lookups: growing(["lookup_id"], {
    lookup_id: text,
    business_id: text,
    subject: text,
    /** Database clock, before the first page was requested. */
    begun_at_ms: integer,
    begun_service_ms: integerOrNull,
    /** 1 if the counts of all pages agreed. */
    is_whole: flag,
    shown_ids: json<readonly string[]>(),
    recorded_at_ms: integer,
  }),
  adoptions: growing(["business_id", "found_id", "attempt_id"], {
    business_id: text,
    found_id: text,
    attempt_id: text,
    subject: text,
    operation: text,
    at_ms: integer,
  }),
  /**
   * Subjects with a send that may still take effect: an index of the rows above, written together
   * with each of them.
   */
  open_subjects: table(["business_id", "subject"], {
    business_id: text,
    subject: text,
    operation: text,
    /** Workflow id of the last send. */
    owner: text,
    /** Database clock. */
    since_ms: integer,
  }),
};
