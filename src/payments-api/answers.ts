import { z } from "zod";
import {
  NoAnswerError,
  OtherRecordError,
  PaymentsApiError,
  PaymentUnconfirmedError,
  type RequestOutcome,
  UnexpectedAnswerError,
} from "./errors.ts";
import { Redaction } from "./redaction.ts";
import type { HttpAnswer, NoAnswer } from "./transport.ts";

/** The part of a request that errors need. */
export interface AskedRequest {
  method: string;
  path: string;
  /** Texts of the request that no error may show. */
  sensitive?: readonly string[] | undefined;
}

/** What a record of the API has within each other, several times over. */
const DEPTH_MOST = 30;

/** Values of the longest answer that is read: 10,000 records of 50 fields. */
const VALUES_MOST = 500_000;

/**
 * The longest list that one answer may have: a hundred times what the service puts on a page (API
 * specification, section 8), for one that ignores how many are asked for. Each record takes memory
 * and some 20 microseconds, even if nothing of it can be read.
 */
const LIST_MOST = 10_000;

/** A page has its list in itself, under `items`, or under `data.items`. */
const LIST_DEPTH_MOST = 2;

/**
 * Parses the JSON of a body; undefined if it is empty or not JSON, or has more values than any
 * answer. What lies deeper than any answer is null, so that nobody who walks through the rest runs
 * out of stack. Removes null characters, which a vendor's name may contain and which PostgreSQL
 * accepts in no text.
 */
export function parseJson(bodyText: string): unknown {
  return hasTooManyValues(bodyText) ? undefined : parsed(bodyText);
}

function parsed(bodyText: string): unknown {
  try {
    return cleaned(JSON.parse(bodyText), 0, bodyText.includes("\\u0000"));
  } catch {
    return undefined;
  }
}

/** The JSON of an answer. */
interface ParsedAnswer {
  /** Undefined if there is none, or too much. */
  readonly body: unknown;
  /** Says what the answer has more of than is read. */
  readonly tooMuch?: string;
}

/**
 * Does what `parseJson` does. Refuses long lists of records, too, before anybody reads the records:
 * an answer of some megabytes has room for a million that are empty.
 */
export function parseAnswer(bodyText: string): ParsedAnswer {
  if (hasTooManyValues(bodyText)) {
    return { body: undefined, tooMuch: `it has more than ${VALUES_MOST} values` };
  }
  const body = parsed(bodyText);
  const tooMuch = longList(body, "the body", 0);
  return tooMuch === undefined ? { body } : { body: undefined, tooMuch };
}

/**
 * Counts the values of a text before it is parsed, which takes seconds for megabytes of brackets.
 * Each value but the first comes after a comma, or begins a list or a record.
 */
function hasTooManyValues(text: string): boolean {
  // Anything else is one value, or no JSON.
  if (text.length <= VALUES_MOST || !/^\s*[[{]/.test(text)) return false;
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) isInString = !isInString;
    else if (isInString) at += character === BACKSLASH ? 1 : 0;
    else if (character === COMMA || character === BRACKET || character === BRACE) values += 1;
    if (values > VALUES_MOST) return true;
  }
  return false;
}

const [QUOTE, COMMA, BRACKET, BACKSLASH, BRACE] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b] as const;

/** Says which list of records is too long; undefined if none is. */
function longList(value: unknown, path: string, depth: number): string | undefined {
  if (Array.isArray(value)) {
    if (value.length <= LIST_MOST) return undefined;
    return `${path}: a list of ${value.length}, and no more than ${LIST_MOST} are read`;
  }
  if (typeof value !== "object" || value === null || depth === LIST_DEPTH_MOST) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const found = longList(part, depth === 0 ? name : `${path}.${name}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Cleans a value, and what is in it in place. */
function cleaned(value: unknown, depth: number, hasNulls: boolean): unknown {
  if (typeof value === "string") return hasNulls ? value.replaceAll("\0", "") : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEPTH_MOST) return null;
  const parts = value as Record<string, unknown>;
  for (const name of Object.keys(parts)) {
    const part = parts[name];
    const kept = cleaned(part, depth + 1, hasNulls);
    if (kept !== part) parts[name] = kept;
  }
  return value;
}

/**
 * Reads a response that reports success.
 *
 * @param isAsked false for a record that is not the one that was asked for
 * @throws {PaymentsApiError} for every other response, and for one without the expected shape
 */
export function readAnswer<T>(
  asked: AskedRequest,
  answer: HttpAnswer | NoAnswer,
  schema: z.ZodType<T>,
  isAsked: (data: T) => boolean = () => true,
): T {
  if (answer.kind === "no-answer") throw noAnswerError(asked, answer);
  if (answer.status < 200 || answer.status > 299) throw errorFromAnswer(asked, answer);
  const { body, tooMuch } = parseAnswer(answer.bodyText);
  if (tooMuch !== undefined) throw unexpected(asked, answer, tooMuch, true);
  const isEmpty = answer.bodyText.trim() === "";
  // Even if the schema accepts any body: a page from an intermediary is not the service's response.
  if (body === undefined && !isEmpty) {
    throw unexpected(asked, answer, "its body is not JSON", false);
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) {
    if (isAsked(parsed.data)) return parsed.data;
    throw new OtherRecordError(fieldsOf(asked, answer, "it shows another record", true));
  }
  const what = isEmpty ? "its body is empty" : describeIssue(parsed.error.issues[0]);
  throw unexpected(asked, answer, what, !isEmpty);
}

/** Does what `readAnswer` does if nothing in the body is needed. */
export function checkAnswer(asked: AskedRequest, answer: HttpAnswer | NoAnswer): void {
  if (answer.kind === "no-answer") throw noAnswerError(asked, answer);
  if (answer.status < 200 || answer.status > 299) throw errorFromAnswer(asked, answer);
}

const refusalSchema = z.object({
  error: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
  message: z.string().catch(""),
  details: z.unknown().optional(),
});

/** Authentication failures carry no code (API specification, section 5). */
const authenticationFailureSchema = z.object({ statusCode: z.int(), message: z.string() });

function errorFromAnswer(asked: AskedRequest, answer: HttpAnswer): PaymentsApiError {
  const { status, retryAfterMs } = answer;
  const { body } = parseAnswer(answer.bodyText);
  const refusal = refusalSchema.safeParse(body);
  const code = refusal.success ? refusal.data.error : codeWithoutRefusal(status, body);
  if (code === undefined)
    return unexpected(asked, answer, "its body is not an error of the service", body !== undefined);
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
function outcomeOf(asked: AskedRequest, status: number, code: string): RequestOutcome {
  if (asked.method === "GET") return "not_applied";
  if (status < 400 || status >= 500 || status === 408) return "unknown";
  if (code === "payment_unconfirmed" || code === "idempotency_conflict") return "unknown";
  return "not_applied";
}

function unexpected(
  asked: AskedRequest,
  answer: HttpAnswer,
  what: string,
  isJson: boolean,
): UnexpectedAnswerError {
  return new UnexpectedAnswerError(fieldsOf(asked, answer, what, isJson));
}

function fieldsOf(asked: AskedRequest, answer: HttpAnswer, what: string, isJson: boolean) {
  const outcome: RequestOutcome = asked.method === "GET" ? "not_applied" : "unknown";
  return {
    ...asked,
    code: "unexpected_answer",
    status: answer.status,
    retryAfterMs: answer.retryAfterMs,
    message: `unexpected answer ${answer.status}: ${what}`,
    outcome,
    isJson,
  };
}

function noAnswerError(asked: AskedRequest, answer: NoAnswer): NoAnswerError {
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
