import { z } from "zod";
import {
  NoAnswerError,
  PaymentsApiError,
  PaymentUnconfirmedError,
  type RequestOutcome,
  UnexpectedAnswerError,
} from "./errors.ts";
import { Redaction } from "./redaction.ts";
import type { HttpAnswer, NoAnswer } from "./transport.ts";

/** The part of a request that errors need. */
export interface Asked {
  method: string;
  path: string;
  /** Texts of the request that no error may show. */
  sensitive?: readonly string[] | undefined;
}

/**
 * Parses the JSON of a body; undefined if it is empty or not JSON. Removes null characters, which a
 * vendor's name may contain and which PostgreSQL accepts in no text.
 */
export function parseJson(bodyText: string): unknown {
  try {
    return bodyText.includes("\\u0000")
      ? JSON.parse(bodyText, (_key, value: unknown) =>
          typeof value === "string" ? value.replaceAll("\0", "") : value,
        )
      : JSON.parse(bodyText);
  } catch {
    return undefined;
  }
}

/**
 * Reads a response that reports success.
 *
 * @throws {PaymentsApiError} for every other response, and for one without the expected shape
 */
export function readAnswer<T>(
  asked: Asked,
  answer: HttpAnswer | NoAnswer,
  schema: z.ZodType<T>,
): T {
  if (answer.kind === "no-answer") throw noAnswerError(asked, answer);
  if (answer.status < 200 || answer.status > 299) throw errorFromAnswer(asked, answer);
  const body = parseJson(answer.bodyText);
  const isEmpty = answer.bodyText.trim() === "";
  // Even if the schema accepts any body: a page from an intermediary is not the service's response.
  if (body === undefined && !isEmpty) throw unexpected(asked, answer, "its body is not JSON");
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const what = isEmpty ? "its body is empty" : describeIssue(parsed.error.issues[0]);
  throw unexpected(asked, answer, what);
}

/** Does what `readAnswer` does if nothing in the body is needed. */
export function checkAnswer(asked: Asked, answer: HttpAnswer | NoAnswer): void {
  if (answer.kind === "no-answer") throw noAnswerError(asked, answer);
  if (answer.status < 200 || answer.status > 299) throw errorFromAnswer(asked, answer);
}

const refusalSchema = z.object({
  error: z.string().regex(/^[a-z][a-z0-9_]*$/),
  message: z.string().catch(""),
  details: z.unknown().optional(),
});

/** Authentication failures carry no code (API specification, section 5). */
const authenticationFailureSchema = z.object({ statusCode: z.int(), message: z.string() });

function errorFromAnswer(asked: Asked, answer: HttpAnswer): PaymentsApiError {
  const { status, retryAfterMs } = answer;
  const body = parseJson(answer.bodyText);
  const refusal = refusalSchema.safeParse(body);
  const code = refusal.success ? refusal.data.error : codeWithoutRefusal(status, body);
  if (code === undefined)
    return unexpected(asked, answer, "its body is not an error of the service");
  const redaction = new Redaction(asked.sensitive);
  const said = refusal.success ? redaction.text(refusal.data.message).slice(0, 500) : "";
  const fields = {
    ...asked,
    code,
    status,
    retryAfterMs,
    message: said === "" ? `${status} ${code}` : `${status} ${code}: ${said}`,
    details: redaction.json(refusal.data?.details),
    outcome: outcomeOf(asked, status, code),
  };
  return code === "payment_unconfirmed"
    ? new PaymentUnconfirmedError(fields)
    : new PaymentsApiError(fields);
}

function codeWithoutRefusal(status: number, body: unknown): string | undefined {
  // Limits are often enforced by something in front of the service, with a body of its own.
  if (status === 429) return "rate_limited";
  if (status >= 500) return "server_error";
  if (!authenticationFailureSchema.safeParse(body).success) return undefined;
  if (status === 401) return "unauthorized";
  return status === 403 ? "forbidden" : undefined;
}

/** Returns `unknown` if the service may have acted, or may still be acting, on this key. */
function outcomeOf(asked: Asked, status: number, code: string): RequestOutcome {
  if (asked.method === "GET") return "not_applied";
  if (status < 400 || status >= 500 || status === 408) return "unknown";
  if (code === "payment_unconfirmed" || code === "idempotency_conflict") return "unknown";
  return "not_applied";
}

function unexpected(asked: Asked, answer: HttpAnswer, what: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError({
    ...asked,
    code: "unexpected_answer",
    status: answer.status,
    retryAfterMs: answer.retryAfterMs,
    message: `unexpected answer ${answer.status}: ${what}`,
    outcome: asked.method === "GET" ? "not_applied" : "unknown",
    isJson: parseJson(answer.bodyText) !== undefined,
  });
}

function noAnswerError(asked: Asked, answer: NoAnswer): NoAnswerError {
  return new NoAnswerError({
    ...asked,
    code: answer.code,
    status: undefined,
    message: answer.reason,
    outcome: answer.sent && asked.method !== "GET" ? "unknown" : "not_applied",
  });
}

/** Names the field, never its value: `items[3].amountCents: …`. */
function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return "it has another shape";
  const path = issue.path.reduce<string>((before, key) => {
    if (typeof key === "number") return `${before}[${key}]`;
    return before === "" ? String(key) : `${before}.${String(key)}`;
  }, "");
  return `${path === "" ? "the body" : path}: ${issue.message}`;
}
