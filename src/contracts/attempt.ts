/**
 * What a request came to, as a person is told. `open`: it may still take effect; `applied`: it took
 * effect; `dead`: its key will never be used again; `not-applied`: nothing of it was taken, and the
 * next request goes under its key.
 */
export type AttemptState = "open" | "applied" | "dead" | "not-applied";

/** One send of a request; its result is one of the ledger's (`src/ledger/facts.ts`). */
export interface SendView {
  /** Milliseconds, on the service's clock where that was known. */
  readonly atMs: number;
  /** Worker and activity attempt that sent it. */
  readonly by: string;
  readonly result: string;
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
}

/** Everything that was sent under one idempotency key. */
export interface AttemptView {
  readonly attemptId: string;
  /** From 1, by subject. */
  readonly seq: number;
  readonly operation: "pay" | "cancel" | "deposit";
  readonly state: AttemptState;
  /** `2xx`, `found by look-up`, or the last code of the service; null for none. */
  readonly answer: string | null;
  readonly idempotencyKey: string;
  /** Of its last send; empty for a request without one. */
  readonly body: string;
  /** These are null where its effect was found and nothing was sent from here. */
  readonly owner: string | null;
  readonly amountCents: number | null;
  readonly executionDate: string | null;
  readonly sends: readonly SendView[];
  /** Payments, or transactions, that it made. */
  readonly paymentIds: readonly string[];
  readonly firstSentAtMs: number | null;
  readonly lastSentAtMs: number | null;
}
