/**
 * The ledger's facts about one subject, kept as insert-only rows, and the types for judging them.
 *
 * A subject is what a send is about: a payable, a payment to cancel, a deposit.
 */

export type OperationName = "pay" | "cancel" | "deposit";

/** The result of one send; written once, by its sender. */
export type SendResult =
  /** Written before its bytes leave; stays if the process dies before it records a result. */
  | "pending"
  /** 2xx in the documented shape. */
  | "applied"
  /**
   * A documented refusal that the service doesn't store: a state refusal, a 429, a 401 or a 403.
   */
  | "refused"
  /** A 4xx with a known code, which the service may replay under this key. */
  | "rejected"
  /** 409 `idempotency_conflict`. */
  | "conflict"
  /** 409 `payment_unconfirmed`. */
  | "unconfirmed"
  /** No response, a 5xx, an unknown code, or a 2xx without the documented shape. */
  | "unknown"
  /** Never left, and can no longer leave. */
  | "not-sent";

/** The request to send, with the terms that were approved. */
export interface Terms {
  readonly path: string;
  /** Exact bytes; empty for a request without a body. */
  readonly body: string;
  /** Id of the workflow that it is sent for. */
  readonly owner: string;
  /**
   * The run whose line it pays, which distinguishes two lines of the same bill and amount; empty if
   * it pays no line.
   */
  readonly runId: string;
  /** Hash of the line, or of the deposit, that was approved; empty for a cancel. */
  readonly approvedHash: string;
  readonly contactId: string;
  readonly sourceId: string;
  readonly rail: string;
  readonly amountCents: number;
  readonly executionDate: string;
}

/** Identifies one line of one run. */
export type LineKey = Pick<Terms, "runId" | "approvedHash">;

export interface Send extends Terms {
  /** Random, so that only its sender can name it. */
  readonly sendId: string;
  /** From 1 within its attempt. */
  readonly sendNo: number;
  /** The sender: worker and activity attempt. */
  readonly sentBy: string;
  /** Ids that the service showed before the key's first send. */
  readonly baseline: readonly string[];
  /** When the gate let it through, and until when its bytes may leave; database clock. */
  readonly openedAtMs: number;
  readonly leaveByMs: number;
  /** The service's clock at the gate, or null if it is not known; a sandbox's wire clock. */
  readonly openedServiceMs: number | null;
  readonly result: SendResult;
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string | null;
  /** Database clock; null while pending. */
  readonly answeredAtMs: number | null;
  /** The `Date` header of its response. */
  readonly answerDateMs: number | null;
  /** Ids that it created, if it was applied. */
  readonly madeIds: readonly string[];
}

/** A response that came after another process had set its send's result. */
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
  /** Ids that lookups found and adopted as its effect. */
  readonly adoptedIds: readonly string[];
}

/** One thing that the service shows for a subject: a payment, or a balance transaction. */
export interface ShownThing {
  readonly id: string;
  /** 0 if the service doesn't say. */
  readonly amountCents: number;
  readonly status: string;
  readonly contactId: string | null;
  readonly bankAccountId: string | null;
  readonly rail: string | null;
  /** `YYYY-MM-DD`; null if the service doesn't say. */
  readonly executionDate: string | null;
  /**
   * When the service created it, on the service's clock; in a sandbox that is not its wire clock.
   */
  readonly createdAtMs: number | null;
  /** True for a payment that names another bill than the one for which it is listed. */
  readonly namesOther?: boolean;
}

/**
 * A lookup: everything that the service shows for a subject, all pages, without a status or time
 * filter.
 */
export interface Lookup {
  /** Database clock, before the first page was requested. */
  readonly begunAtMs: number;
  /** The service's clock at the same moment; null if it is not known. */
  readonly begunServiceMs: number | null;
  /** True if everything that it shows can be read. */
  readonly isWhole: boolean;
  readonly shownIds: readonly string[];
}

/** When the store was found to be older than its workflows. */
export interface Restored {
  /** Database clock. */
  readonly atMs: number;
  /** The service's clock, which counts in a sandbox; null if it was not known. */
  readonly serviceMs: number | null;
}

/** All rows of the ledger about one subject. */
export interface SubjectFacts {
  /** First to last. */
  readonly attempts: readonly KeyedAttempt[];
  /** First to last. */
  readonly lookups: readonly Lookup[];
  /** Ids that attempts at other subjects have made or adopted; never adopted for this one. */
  readonly othersIds: readonly string[];
  /** When this store was found to be older than its workflows; null if it never was. */
  readonly restored: Restored | null;
}

/** A lookup made just now, with what it showed, for the gate to judge. */
export interface Reading extends Lookup {
  readonly shown: readonly ShownThing[];
}

/** The request that a caller wants to send. The gate checks separately whether it may. */
export interface Wish extends Terms {
  readonly operation: OperationName;
}

/** The time at which the gate judges. */
export interface Now {
  /** Database clock. */
  readonly atMs: number;
  /** The service's clock; null if it is not known. In a sandbox, its wire clock. */
  readonly serviceMs: number | null;
  /** True if only the wire clock counts, as in a sandbox. */
  readonly sandbox: boolean;
}

/** What to do about a subject next. */
export type Step =
  | {
      readonly kind: "send";
      readonly seq: number;
      readonly terms: Terms;
      readonly baseline: readonly string[];
      /** True if the attempt's row does not exist yet. */
      readonly isNewKey: boolean;
    }
  /** The reading shows this attempt's effect. */
  | { readonly kind: "adopt"; readonly seq: number; readonly ids: readonly string[] }
  /** It was applied, and its effect is not known to be unpaid. */
  | {
      readonly kind: "applied";
      readonly seq: number;
      readonly ids: readonly string[];
      readonly found: boolean;
      /**
       * The line of its last send, by which the caller recognizes its own; null if no send is
       * known.
       */
      readonly line: LineKey | null;
    }
  /** The reading is too old or incomplete: read again. */
  | { readonly kind: "read"; readonly reason: string }
  /** Wait this long: a send may still take effect, or the clock is unknown. */
  | {
      readonly kind: "wait";
      readonly waitMs: number;
      readonly reason: WaitReason;
    }
  | { readonly kind: "person"; readonly code: "refused" | "unaccounted"; readonly reason: string }
  /** Nothing is wanted, and no send can take effect anymore. */
  | { readonly kind: "idle" };

export type WaitReason =
  /** Another process may be sending right now. */
  | "leaving"
  /** No lookup can be conclusive yet about a send without a response. */
  | "lookup-due"
  /** The service does not show the created payment yet. */
  | "not-shown"
  /** The store was restored and sends nothing yet. */
  | "restored"
  /** The reading shows a payment that can't be read, which may be the effect of a send. */
  | "unreadable"
  /** The service's clock is not known. */
  | "clock";
