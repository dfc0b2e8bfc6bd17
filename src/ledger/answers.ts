import { SLOW_DOWN, TOKEN_REFUSED } from "../domain/service-waits.ts";
import { serviceSays } from "../domain/service-words.ts";
import type { Operation } from "./operations.ts";
import { type Later, LINE_WAITS, type Said, STORED } from "./said.ts";
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

export interface JudgedAnswer {
  readonly result: Exclude<SendResult, "pending">;
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly answerDateMs: number | null;
  /** Ids that the response names as created. */
  readonly madeIds: readonly string[];
  /** What it means for the caller; what it means for the key is `result`. */
  readonly said: Said;
}

/** Wait after a 429 without `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 2_000;
const MESSAGE_MAX_LENGTH = 500;

const BUSINESS_WAITS = [
  "payments_locked",
  "setup_required",
  "setup_incomplete",
  "feature_unavailable",
] as const;

/** What a response says was done was not looked up, and nobody knew of it before. */
const HEARD = { found: false, isNew: true, line: null };

type Judgement = Pick<JudgedAnswer, "result" | "said"> &
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
    const madeIds = made.length > 0 ? made : ids;
    const shown = payments.filter(({ id }) => madeIds.includes(id));
    const said: Said = { kind: "applied", ids: madeIds, payments: shown, ...HEARD };
    return { result: "applied", madeIds, said };
  }
  if (status < 400) return unknown(`answer ${status}`);
  const error = errorOf(body);
  const byCode = error === undefined ? undefined : judgeCode(error);
  if (byCode !== undefined) return { code: error?.code ?? null, ...openAt(status, byCode) };
  // The codes of state refusals were handled above; stored refusals count only as a 4xx.
  if (status >= 500 || status === 408) return { ...unknown(`answer ${status}`), ...coded(error) };
  if (status === 401) return refused({ of: "business", code: "unauthorized" }, TOKEN_REFUSED);
  if (status === 403) {
    const reason = `The token lacks ${operation.scope} (403).${serviceSays(messageOf(body))}`;
    return refused({ of: "business", code: "forbidden" }, reason);
  }
  if (status === 429) {
    const waitMs = Math.max(0, answer.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS);
    return refused({ of: "business", code: "rate_limited" }, SLOW_DOWN, waitMs);
  }
  if (error === undefined) return unknown(`answer ${status} without an error code`);
  const { code, message, field } = error;
  const stored = STORED.find((each) => each === code);
  if (stored === undefined) return { ...unknown(`answer ${status} ${code}`), ...coded(error) };
  const said: Said = { kind: "refused", code: stored, field, message };
  return { result: "rejected", code, message, said };
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
    return open("unconfirmed", "The service can't say whether it did it.");
  }
  if (code === "idempotency_conflict") {
    return open("conflict", "The service says that a request under its key still runs.");
  }
  if (code === "payment_in_progress") {
    const reason = `The service says that a payment of it is on its way (${code}).`;
    return refused({ of: "request", code }, reason);
  }
  const reason = `The service refuses it for now (${code}).${serviceSays(message)}`;
  if (code === "insufficient_balance") return refused({ of: "source", code }, reason);
  const ofAll = BUSINESS_WAITS.find((each) => each === code);
  if (ofAll !== undefined) return refused({ of: "business", code: ofAll }, reason);
  const ofLine = LINE_WAITS.find((each) => each === code);
  return ofLine === undefined ? undefined : refused({ of: "line", code: ofLine }, message);
}

/** Whom a refusal concerns that may pass by itself. */
type Refusal =
  | Pick<Extract<Later, { of: "request" }>, "of" | "code">
  | Pick<Extract<Later, { of: "line" }>, "of" | "code">
  | Pick<Extract<Later, { of: "source" | "business" }>, "of" | "code">;

function refused(refusal: Refusal, reason: string, waitMs: number | null = null): Judgement {
  return { result: "refused", said: { kind: "later", reason, waitMs, ...refusal } };
}

function open(result: "unknown" | "conflict" | "unconfirmed", reason: string): Judgement {
  return { result, said: { kind: "unknown", reason, waitMs: null } };
}

function unknown(message: string): Judgement {
  return { ...open("unknown", `It was sent and had no clear answer (${message}).`), message };
}

function notSent(message: string): Judgement {
  const reason = `It was not sent: ${message}.`;
  const said: Said = { kind: "later", of: "request", code: null, reason, waitMs: null };
  return { result: "not-sent", message, said };
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
