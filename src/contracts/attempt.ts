/** What one send of an attempt's frozen request came to. */
export type SendResult =
  /** Written before the bytes leave; stays where the process died before the answer was recorded. */
  | "pending"
  /** Applied: 2xx with the documented shape. */
  | "applied"
  /** Answered by something neither stored nor in flight: a state refusal or 429. */
  | "refused"
  /** A 4xx that the service may have stored under the key. */
  | "rejected"
  /** No answer, 5xx, or an answer without the documented shape. */
  | "unknown"
  /** 409 `idempotency_conflict`. */
  | "conflict"
  /** 409 `payment_unconfirmed`: the key is dead. */
  | "unconfirmed"
  /** Certainly never left this process. */
  | "not-sent";

export interface AttemptSend {
  /** Service-clock instant, milliseconds. */
  readonly atMs: number;
  /** Worker and activity attempt that sent it. */
  readonly by: string;
  readonly result: SendResult;
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
}

/**
 * `live`: may still be sent or its effect is not known. `applied` and `dead` are final answers
 * of the service; `released` was never applied and will never be sent again.
 */
export type AttemptState = "live" | "applied" | "dead" | "released";

export type AttemptOperation = "pay" | "retry-payment" | "cancel" | "deposit";

/** One row of the attempt ledger: a frozen request under one idempotency key. */
export interface Attempt {
  readonly attemptId: string;
  readonly businessId: string;
  readonly subject: string;
  readonly seq: number;
  readonly operation: AttemptOperation;
  readonly method: "POST";
  readonly path: string;
  readonly body: string;
  readonly idempotencyKey: string;
  readonly owner: string;
  readonly lineHash: string;
  readonly contactId: string;
  readonly sourceId: string;
  readonly rail: string;
  readonly amountCents: number;
  readonly executionDate: string;
  readonly knownPaymentIds: readonly string[];
  readonly sends: readonly AttemptSend[];
  readonly state: AttemptState;
  readonly firstSentAtMs: number | null;
  readonly lastSentAtMs: number | null;
  readonly gaveUpAtMs: number | null;
  readonly lookedUpAtMs: number | null;
  readonly paymentIds: readonly string[];
  readonly answer: string | null;
}
