/** An answer to a money write, as the client reports it. */
export type MoneyWriteAnswerLike =
  | {
      readonly kind: "http";
      readonly status: number;
      /** Parsed JSON, undefined where the body was none. */
      readonly body: unknown;
      readonly retryAfterMs?: number | undefined;
    }
  | {
      readonly kind: "no-answer";
      /** False only where the request certainly never left. */
      readonly sent: boolean;
      readonly reason: string;
    };

export interface AnswerInput {
  readonly answer: MoneyWriteAnswerLike;
  /** Which shape a success has; `retry` and `deposit` have none that the specification shows. */
  readonly operation: "pay" | "cancel" | "retry" | "deposit";
  /** The rejection that an earlier send of the same key got, null where none did. */
  readonly earlierRejection: { readonly status: number; readonly code: string } | null;
  /** True where something was sent under this key before, and all of it was answered. */
  readonly earlierAnswered: boolean;
  /** True where this send left after the in-flight window of the one before it was over. */
  readonly sentPastWindow: boolean;
}

/** What an answer means for the money, and what is done next. */
export type Decision =
  /** The service took it, in the documented shape; the caller records the payments. */
  | { readonly kind: "applied" }
  /** Nobody knows: same key, same bytes, with back-off. `mayHaveArrived` is false where it never left. */
  | {
      readonly kind: "unknown";
      readonly retrySameKey: true;
      readonly mayHaveArrived: boolean;
      readonly reason: string;
    }
  /** The key will never pay; `unconfirmed` asks for a look-up after the window. */
  | { readonly kind: "key-dead"; readonly reason: "unconfirmed" | "replayed-rejection" }
  /** The key is in flight: same key again, or, past the window, a look-up. */
  | { readonly kind: "in-flight"; readonly lookUp: boolean }
  | { readonly kind: "line-wait"; readonly code: string; readonly message: string }
  | { readonly kind: "look-up"; readonly code: string; readonly message: string }
  | {
      readonly kind: "business-wait";
      readonly code: string;
      readonly scope: "source" | "business";
      readonly message: string;
    }
  | {
      readonly kind: "rejected";
      readonly status: number;
      readonly code: string;
      readonly field: string | null;
      readonly message: string;
    }
  | { readonly kind: "unauthorized" }
  | { readonly kind: "forbidden"; readonly message: string }
  | { readonly kind: "rate-limited"; readonly retryAfterMs: number };

/** Wait after a 429 that doesn't say for how long. */
const DEFAULT_RETRY_AFTER_MS = 2_000;
const MESSAGE_MAX_LENGTH = 500;

/** Answers of a router to a path that the service doesn't have; `retry-payment` is optional to us. */
const NO_SUCH_ROUTE: ReadonlySet<number> = new Set([404, 405]);

const LINE_WAITS: ReadonlySet<string> = new Set(["approval_required", "contact_not_payable"]);
const BUSINESS_WAITS: ReadonlySet<string> = new Set([
  "payments_locked",
  "setup_required",
  "setup_incomplete",
  "feature_unavailable",
]);

/**
 * Reads an answer to a money write by the table of the design ("Paying once").
 *
 * A known code decides before the status does, because the specification leaves the status of most
 * codes open (API specification, section 7). Whatever lacks the documented shape is unknown.
 */
export function decideAnswer(input: AnswerInput): Decision {
  const { answer } = input;
  if (answer.kind === "no-answer") return unknown(answer.reason, answer.sent);
  const { status, body } = answer;
  if (status >= 200 && status < 300) {
    return hasSuccessShape(input.operation, body)
      ? { kind: "applied" }
      : unknown(`answer ${status} without the documented shape`, true);
  }
  if (status < 400) return unknown(`answer ${status}`, true);
  const error = errorOf(body);
  const byCode = error === undefined ? undefined : decideByCode(error, input);
  if (byCode !== undefined) return byCode;
  if (status >= 500 || status === 408) return unknown(`answer ${status}`, true);
  if (status === 401) return { kind: "unauthorized" };
  if (status === 403) return { kind: "forbidden", message: messageOf(body) };
  if (status === 429) {
    const retryAfterMs = answer.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS;
    return { kind: "rate-limited", retryAfterMs: Math.max(0, retryAfterMs) };
  }
  if (error === undefined && input.operation === "retry" && NO_SUCH_ROUTE.has(status)) {
    const message = "the service has no retry-payment";
    return decideRejection(status, { code: "not_supported", field: null, message }, input);
  }
  if (error === undefined) return unknown(`answer ${status} without an error code`, true);
  return decideRejection(status, error, input);
}

interface ServiceError {
  readonly code: string;
  readonly message: string;
  readonly field: string | null;
}

/** The codes whose meaning doesn't depend on the status. */
function decideByCode(error: ServiceError, input: AnswerInput): Decision | undefined {
  const { code, message } = error;
  if (code === "payment_unconfirmed") return { kind: "key-dead", reason: "unconfirmed" };
  if (code === "idempotency_conflict") {
    // Nothing of ours is in flight, so the key is bound to the bytes that were refused before.
    if (input.earlierAnswered) {
      return { kind: "key-dead", reason: "replayed-rejection" };
    }
    return { kind: "in-flight", lookUp: input.sentPastWindow };
  }
  if (code === "payment_in_progress") return { kind: "look-up", code, message };
  if (code === "insufficient_balance") {
    return { kind: "business-wait", code, scope: "source", message };
  }
  if (BUSINESS_WAITS.has(code)) return { kind: "business-wait", code, scope: "business", message };
  if (LINE_WAITS.has(code)) return { kind: "line-wait", code, message };
  return undefined;
}

function decideRejection(status: number, error: ServiceError, input: AnswerInput): Decision {
  const earlier = input.earlierRejection;
  if (earlier !== null && earlier.status === status && earlier.code === error.code) {
    return { kind: "key-dead", reason: "replayed-rejection" };
  }
  return { kind: "rejected", status, ...error };
}

function unknown(reason: string, mayHaveArrived: boolean): Decision {
  return { kind: "unknown", retrySameKey: true, mayHaveArrived, reason };
}

function hasSuccessShape(operation: AnswerInput["operation"], body: unknown): boolean {
  if (operation === "retry") return true;
  if (!isRecord(body)) return false;
  if (operation === "deposit") return true;
  if (operation === "cancel") return isPayment(body["payment"]);
  const payments = body["payments"];
  return Array.isArray(payments) && payments.length > 0 && payments.every(isPayment);
}

function isPayment(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value["id"] === "string" &&
    typeof value["status"] === "string" &&
    Number.isSafeInteger(value["amountCents"])
  );
}

function errorOf(body: unknown): ServiceError | undefined {
  if (!isRecord(body)) return undefined;
  const code = body["error"];
  // "Not Found" and the like come from proxies and frameworks, not from the service.
  if (typeof code !== "string" || !/^[a-z][a-z0-9_]*$/.test(code)) return undefined;
  const details = body["details"];
  const field = isRecord(details) ? details["field"] : undefined;
  return { code, message: messageOf(body), field: typeof field === "string" ? field : null };
}

function messageOf(body: unknown): string {
  const message = isRecord(body) ? body["message"] : undefined;
  return typeof message === "string" ? message.slice(0, MESSAGE_MAX_LENGTH) : "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
