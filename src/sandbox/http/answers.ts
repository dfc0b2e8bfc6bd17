import type { HitFault } from "../control/faults.ts";
import { ApiError } from "./api-error.ts";
import type { StoredAnswer } from "./idempotency.ts";

/** An answer that is ready to be sent; if `drop` is true, the connection is closed instead. */
export interface ReadyAnswer extends StoredAnswer {
  headers: Record<string, string>;
  drop?: boolean;
  /** The error's code, if the answer is an error. */
  code?: string | undefined;
}

/** Returns an authentication failure, which has a shape of its own (section 7). */
export function plainAnswer(status: number, message: string): ReadyAnswer {
  return { status, headers: {}, body: JSON.stringify({ statusCode: status, message }) };
}

/**
 * Returns the answer to a thrown error. An unexpected error becomes a 500 and a line on standard
 * error.
 */
export function errorAnswer(error: unknown): ReadyAnswer & { code: string } {
  if (error instanceof ApiError) {
    const { status, code, message, details } = error;
    const body = JSON.stringify({ error: code, message, ...(details && { details }) });
    return { status, headers: {}, body, code };
  }
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`sandbox: unexpected: ${told}\n`);
  const body = JSON.stringify({ error: "internal_error", message: "The service failed" });
  return { status: 500, headers: {}, body, code: "internal_error" };
}

/**
 * Returns what a fault turns an answer into, or the fault's own answer if the request gets none.
 */
export function faultAnswer(
  fault: HitFault,
  answer: StoredAnswer | undefined,
  wireNowMs: number,
): ReadyAnswer {
  switch (fault.effect) {
    case "drop":
    case "late":
      return { status: 0, headers: {}, body: null, drop: true };
    case "malformed": {
      const body = answer?.body ?? '{"id":"cut off"}';
      const cut = body.slice(0, Math.max(1, Math.floor(body.length * 0.6)));
      return { status: answer?.status ?? 200, headers: {}, body: cut };
    }
    default:
      return {
        status: fault.status,
        headers: retryAfterHeader(fault, wireNowMs),
        body: statusBody(fault.status),
      };
  }
}

function retryAfterHeader(fault: HitFault, wireNowMs: number): Record<string, string> {
  const seconds = fault.retryAfterSeconds;
  if (seconds === undefined) return {};
  if (!fault.byDate) return { "retry-after": String(Math.ceil(seconds)) };
  return { "retry-after": new Date(wireNowMs + seconds * 1_000).toUTCString() };
}

function statusBody(status: number): string | null {
  if (status === 204 || status === 304) return null;
  if (status === 401) return JSON.stringify({ statusCode: status, message: "Unauthorized" });
  if (status === 403) return JSON.stringify({ statusCode: status, message: "Forbidden" });
  const error = status === 429 ? "rate_limited" : status >= 500 ? "internal_error" : "fault";
  return JSON.stringify({ error, message: `A fault on demand: ${status}` });
}
