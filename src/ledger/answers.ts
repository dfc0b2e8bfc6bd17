import type { WaitCode } from "../contracts/reason-codes.ts";
import type { Made, Operation } from "./operations.ts";
import type { SendResult } from "./facts.ts";
import type { OpenedSend } from "./write.ts";
import { isRecord } from "../contracts/is-record.ts";

/** The response to a money write, as the client reports it. */
export type Answer =
  | {
      readonly kind: "http";
      readonly status: number;
      /** Parsed JSON; undefined if the body was not JSON. */
      readonly body: unknown;
      readonly headersDateMs?: number | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  | {
      readonly kind: "no-answer";
      /** False only if the request certainly never left and can no longer leave. */
      readonly sent: boolean;
      readonly reason: string;
    };

/** What a response means for the caller. What it means for the key is `result`. */
export type Means =
  | { readonly kind: "applied"; readonly payments: Made["payments"] }
  | { readonly kind: "unknown"; readonly reason: string }
  | { readonly kind: "not-sent"; readonly reason: string }
  | { readonly kind: "conflict" }
  | { readonly kind: "unconfirmed" }
  /** A payment of the payable is in progress: ours from an earlier send, or an external one. */
  | { readonly kind: "in-progress"; readonly code: "payment_in_progress"; readonly message: string }
  | { readonly kind: "line-wait"; readonly code: LineWait; readonly message: string }
  | {
      readonly kind: "business-wait";
      readonly code: WaitCode;
      readonly scope: "source" | "business";
      readonly message: string;
    }
  | {
      readonly kind: "rejected";
      readonly code: Stored;
      readonly field: string | null;
      readonly message: string;
    }
  | { readonly kind: "unauthorized" }
  | { readonly kind: "forbidden"; readonly message: string }
  | { readonly kind: "rate-limited"; readonly retryAfterMs: number };

export interface JudgedAnswer {
  readonly result: Exclude<SendResult, "pending">;
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly answerDateMs: number | null;
  /** Ids that the response names as created. */
  readonly madeIds: readonly string[];
  readonly means: Means;
}

/** Wait after a 429 without `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 2_000;
const MESSAGE_MAX_LENGTH = 500;

/** Codes after which only this line waits: for the vendor's bank account, or the bill's own approval. */
export const LINE_WAITS = ["approval_required", "contact_not_payable"] as const;
type LineWait = (typeof LINE_WAITS)[number];
const BUSINESS_WAITS = [
  "payments_locked",
  "setup_required",
  "setup_incomplete",
  "feature_unavailable",
] as const;

/**
 * Codes of refusals that the service stores and replays under their key (API specification, section
 * 7).
 */
const STORED = ["validation_error", "not_found", "payment_not_cancellable"] as const;
type Stored = (typeof STORED)[number];

type Judgement = Pick<JudgedAnswer, "result" | "means"> &
  Partial<Pick<JudgedAnswer, "code" | "message" | "madeIds">>;

/**
 * Judges a response, by the one table of what responses to money writes mean (rule 5).
 *
 * A known code takes precedence over the status, because the specification leaves the status of
 * most codes open. A 5xx, though, is final for its key and never closes a send, whatever its code.
 * A response without the documented shape, or with an undocumented code, is unknown.
 */
export function judgeAnswer(
  operation: Operation,
  answer: Answer,
  send: Pick<OpenedSend, "terms" | "baseline">,
): JudgedAnswer {
  const nothing = { code: null, message: null, madeIds: [] };
  if (answer.kind === "no-answer") {
    const { reason } = answer;
    const judged: Judgement = answer.sent ? unknown(reason) : notSent(reason);
    return { ...nothing, status: null, answerDateMs: null, ...judged };
  }
  const { status, headersDateMs } = answer;
  const answerDateMs = headersDateMs === undefined ? null : Math.floor(headersDateMs);
  return { ...nothing, status, answerDateMs, ...judgeHttp(operation, answer, send) };
}

function judgeHttp(
  operation: Operation,
  answer: Answer & { readonly kind: "http" },
  { terms, baseline }: Pick<OpenedSend, "terms" | "baseline">,
): Judgement {
  const { status, body } = answer;
  if (status >= 200 && status < 300) {
    const named = operation.made(body, terms.path);
    if (named === null) return unknown(`answer ${status} without the documented shape`);
    const { ids, payments } = named;
    // The service may list all payments of the bill; a replay lists only those of the baseline.
    const made = ids.filter((id) => !baseline.includes(id));
    const means: Means = { kind: "applied", payments };
    return { result: "applied", madeIds: made.length > 0 ? made : ids, means };
  }
  if (status < 400) return unknown(`answer ${status}`);
  const error = errorOf(body);
  const byCode = error === undefined ? undefined : judgeCode(error);
  if (byCode !== undefined) return { code: error?.code ?? null, ...openAt(status, byCode) };
  // The codes of state refusals were handled above; stored refusals count only as a 4xx.
  if (status >= 500 || status === 408) return { ...unknown(`answer ${status}`), ...coded(error) };
  if (status === 401) return refused({ kind: "unauthorized" });
  if (status === 403) return refused({ kind: "forbidden", message: messageOf(body) });
  if (status === 429) {
    const retryAfterMs = Math.max(0, answer.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
    return refused({ kind: "rate-limited", retryAfterMs });
  }
  if (error === undefined) return unknown(`answer ${status} without an error code`);
  const { code, message, field } = error;
  const stored = STORED.find((each) => each === code);
  if (stored === undefined) return { ...unknown(`answer ${status} ${code}`), ...coded(error) };
  const means: Means = { kind: "rejected", code: stored, field, message };
  return { result: "rejected", code, message, means };
}

/**
 * Makes a refusal with a 5xx unknown. Its meaning is the same at any status, but only a 4xx says
 * that nothing was done.
 */
function openAt(status: number, judgement: Judgement): Judgement {
  return status >= 500 && judgement.result === "refused"
    ? { ...judgement, result: "unknown" }
    : judgement;
}

interface ServiceError {
  readonly code: string;
  readonly message: string;
  readonly field: string | null;
}

/**
 * Judges the codes whose meaning doesn't depend on the status; returns undefined for all others.
 */
function judgeCode({ code, message }: ServiceError): Judgement | undefined {
  if (code === "payment_unconfirmed") {
    return { result: "unconfirmed", means: { kind: "unconfirmed" } };
  }
  if (code === "idempotency_conflict") return { result: "conflict", means: { kind: "conflict" } };
  if (code === "payment_in_progress") return refused({ kind: "in-progress", code, message });
  if (code === "insufficient_balance") {
    return refused({ kind: "business-wait", code, scope: "source", message });
  }
  const ofAll = BUSINESS_WAITS.find((each) => each === code);
  if (ofAll !== undefined) {
    return refused({ kind: "business-wait", code: ofAll, scope: "business", message });
  }
  const ofLine = LINE_WAITS.find((each) => each === code);
  return ofLine === undefined ? undefined : refused({ kind: "line-wait", code: ofLine, message });
}

function refused(means: Means): Judgement {
  return { result: "refused", means };
}

function unknown(reason: string): Judgement {
  return { result: "unknown", message: reason, means: { kind: "unknown", reason } };
}

function notSent(reason: string): Judgement {
  return { result: "not-sent", message: reason, means: { kind: "not-sent", reason } };
}

function coded(error: ServiceError | undefined): { code?: string; message?: string } {
  if (error === undefined) return {};
  const { code, message } = error;
  return message === "" ? { code } : { code, message };
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
