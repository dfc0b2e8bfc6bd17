/**
 * What the ledger knows of one subject, as rows that nobody rewrites, and what is asked of it.
 *
 * A subject is what a money write is about: a payable, a payment to cancel, a deposit.
 */

export type OperationName = "pay" | "cancel" | "deposit";

/** What one send came to; written once, by its sender. */
export type SendResult =
  /** Written before its bytes leave; stays where the process died over it. */
  | "pending"
  /** 2xx in the documented shape. */
  | "applied"
  /** A documented refusal that the service doesn't store: a state refusal, 429, or 401 and 403. */
  | "refused"
  /** A 4xx with a known code, which the service may replay under this key. */
  | "rejected"
  /** 409 `idempotency_conflict`. */
  | "conflict"
  /** 409 `payment_unconfirmed`. */
  | "unconfirmed"
  /** No answer, 5xx, an unknown code, or a 2xx without its shape. */
  | "unknown"
  /** Never left, and can't leave any more. */
  | "not-sent";

/** What is to be sent, with the terms that somebody approved. */
export interface Terms {
  readonly path: string;
  /** Exact bytes; empty for a request without a body. */
  readonly body: string;
  /** Workflow id for which it is sent. */
  readonly owner: string;
  /** The run whose line it pays, which a run of the same bill and amount is not; else empty. */
  readonly runId: string;
  /** Hash of the line, or of the deposit, that was approved; empty for a cancel. */
  readonly approvedHash: string;
  readonly contactId: string;
  readonly sourceId: string;
  readonly rail: string;
  readonly amountCents: number;
  readonly executionDate: string;
}

/** What one line of a run is known by. */
export type LineKey = Pick<Terms, "runId" | "approvedHash">;

export interface Send extends Terms {
  /** Random, so that only its sender can name it. */
  readonly sendId: string;
  /** From 1 within its attempt. */
  readonly sendNo: number;
  /** Worker and activity attempt. */
  readonly sentBy: string;
  /** Ids that were there before the key's first send. */
  readonly baseline: readonly string[];
  /** Database clock: when the gate let it through, and until when its bytes may leave. */
  readonly openedAtMs: number;
  readonly leaveByMs: number;
  /** The service's clock at the gate, as far as it had been heard; a sandbox's wire clock. */
  readonly openedServiceMs: number | null;
  readonly result: SendResult;
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string | null;
  /** Database clock; null while pending. */
  readonly answeredAtMs: number | null;
  /** The `Date` of its answer. */
  readonly answerDateMs: number | null;
  /** What it made, where it was applied. */
  readonly madeIds: readonly string[];
}

/** An answer that came after its send's result had been set by somebody else. */
export interface LateAnswer {
  readonly sendId: string;
  readonly result: SendResult;
  readonly madeIds: readonly string[];
}

/** One key and everything that was sent under it. */
export interface KeyedAttempt {
  readonly attemptId: string;
  readonly seq: number;
  readonly operation: OperationName;
  readonly idempotencyKey: string;
  readonly createdAtMs: number;
  /** First to last. */
  readonly sends: readonly Send[];
  readonly lateAnswers: readonly LateAnswer[];
  /** What looks found and took for its effect. */
  readonly adoptedIds: readonly string[];
}

/** Something that the service shows of a subject: a payment, or a balance transaction. */
export interface Shown {
  readonly id: string;
  /** 0 where it isn't told. */
  readonly amountCents: number;
  readonly status: string;
  readonly contactId: string | null;
  readonly bankAccountId: string | null;
  readonly rail: string | null;
  /** `YYYY-MM-DD`, where it is told. */
  readonly executionDate: string | null;
  /** When it was made, by the service's clock; in a sandbox that is not its wire clock. */
  readonly createdAtMs: number | null;
}

/** Everything of a subject, read once: all pages, without status or time filter. */
export interface Look {
  /** Database clock, before the first page was asked for. */
  readonly begunAtMs: number;
  /** The service's clock at the same moment; null where it had not been heard. */
  readonly begunServiceMs: number | null;
  /** True where the counts of all pages agreed. */
  readonly isWhole: boolean;
  readonly shownIds: readonly string[];
}

/** The instant at which a loss was noticed. */
export interface Restored {
  /** Real time. */
  readonly atMs: number;
  /** The service's clock, by which a sandbox judges; null where it was not known. */
  readonly serviceMs: number | null;
}

/** All that the ledger has of one subject. */
export interface SubjectFacts {
  /** First to last. */
  readonly attempts: readonly KeyedAttempt[];
  /** First to last. */
  readonly looks: readonly Look[];
  /** Ids that other subjects' attempts have made or adopted; never to be adopted here. */
  readonly othersIds: readonly string[];
  /** When this store was found to be older than what was done with it; null where it never was. */
  readonly restored: Restored | null;
}

/** What was read of the subject a moment ago, and now stands before the gate. */
export interface Reading extends Look {
  readonly shown: readonly Shown[];
}

/** What somebody wants sent now; the gate asks separately whether it may be. */
export interface Wish extends Terms {
  readonly operation: OperationName;
}

/** The instant at which the gate asks. */
export interface Now {
  /** Database clock. */
  readonly atMs: number;
  /** The service's clock; null where it has not been heard; a sandbox's wire clock. */
  readonly serviceMs: number | null;
  /** True where only the wire clock of a sandbox counts for what passes at the service. */
  readonly sandbox: boolean;
}

/** What is to be done about a subject next. */
export type Step =
  | {
      readonly kind: "send";
      readonly seq: number;
      readonly terms: Terms;
      readonly baseline: readonly string[];
      /** True where the attempt's row is still to be made. */
      readonly isNewKey: boolean;
    }
  /** The reading shows the effect of this attempt. */
  | { readonly kind: "adopt"; readonly seq: number; readonly ids: readonly string[] }
  /** It has been applied, and what it made is not known to be unpaid. */
  | {
      readonly kind: "applied";
      readonly seq: number;
      readonly ids: readonly string[];
      readonly found: boolean;
      /** Of its last send, by which the caller knows its own; null where none is known. */
      readonly line: LineKey | null;
    }
  /** The reading is too old, or not whole: read again. */
  | { readonly kind: "read"; readonly reason: string }
  /** Nothing before this; `mayStillPay` where a send of it may still take effect. */
  | {
      readonly kind: "rest";
      readonly restMs: number;
      readonly reason: RestReason;
    }
  | { readonly kind: "person"; readonly code: string; readonly reason: string }
  /** Nothing is wished, and nothing that was sent can take effect any more. */
  | { readonly kind: "idle" };

export type RestReason =
  /** Another process may be about to send. */
  | "leaving"
  /** Until a look is the last word on what had no answer. */
  | "look-due"
  /** The service has not shown yet what it made. */
  | "not-shown"
  /** A store that was restored sends nothing yet. */
  | "restored"
  /** The service's clock has not been heard. */
  | "clock";
