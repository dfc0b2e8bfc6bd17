import { MINUTE_MS } from "../contracts/durations.ts";
import type { Clock } from "./clock/clock.ts";
import { spokenTime } from "./clock/spoken.ts";

/** What the service's answers 401 and 429 mean. */
export const TOKEN_REFUSED = "The service refuses the token (401). Renew it.";
export const SLOW_DOWN = "The service asked to slow down (429).";

/** Codes of waits during which payments can't be read. */
export const PAYMENT_READ_FAILURES = { away: "unreachable", unusable: "unreadable" } as const;

/** Codes of waits for a service that answers no request; any successful read ends them. */
export const SERVICE_WAITS = [
  "unauthorized",
  "rate_limited",
  ...Object.values(PAYMENT_READ_FAILURES),
] as const;

/** Code of a wait: the token lacks a scope for a read that runs need and cancels don't. */
export const FORBIDDEN_READ = "forbidden_read";

/** Code of a wait: the token may not pay or cancel, or may not read payments. */
export const FORBIDDEN = "forbidden";

/** Codes of waits: a read that runs need and cancels don't fails. Other operations may work. */
export const READ_FAILURES = { away: "unreachable_read", unusable: "unreadable_read" } as const;

/** Codes of waits that a failed read sets and the next successful read ends. */
const READ_WAITS: readonly string[] = [
  ...SERVICE_WAITS,
  FORBIDDEN_READ,
  ...Object.values(READ_FAILURES),
];

/**
 * Codes of waits during which nothing can be cancelled either. The service's other refusals
 * (`payments_locked`, `setup_required`, `feature_unavailable`) concern payments only, and a missing
 * scope that cancels don't need must not let a payment go out.
 */
export const CANCEL_WAITS: readonly string[] = [...SERVICE_WAITS, FORBIDDEN];

/** Code of the wait of a funding source that the service says can't pay. */
export const SOURCE_UNAVAILABLE = "source_unavailable";

/**
 * Code of a wait: the token may not read a bill's or vendor's details that paying needs. Cancels
 * don't read them.
 */
export const FORBIDDEN_FOR_PAYMENTS = "forbidden_for_payments";

/** A pause that is shorter is over before anybody would come back. */
const TOLD_FROM_MS = MINUTE_MS;

/**
 * Says what is waited for at the service, and when it is tried again, unless that is within a
 * minute.
 *
 * @param wait `retryAtMs` is on the service's clock
 */
export function serviceWaitText(
  { message, retryAtMs }: { readonly message: string; readonly retryAtMs: number },
  clock: Clock & { readonly serviceMs: number },
): string {
  const leftMs = retryAtMs - clock.serviceMs;
  if (leftMs < TOLD_FROM_MS) return `the service: ${message}`;
  const at = spokenTime(Math.round(clock.afterRealMs(leftMs)), clock.zone);
  return `the service, which is tried again on ${at}: ${message}`;
}

interface Wait {
  /** Empty if the wait concerns the whole business. */
  readonly sourceId: string;
  readonly code: string;
}

/** True for a wait during which nothing of the business can be read. */
export function stopsReads(wait: Wait): boolean {
  return wait.sourceId === "" && READ_WAITS.includes(wait.code);
}

/** True for a wait during which nothing of the business can be cancelled. */
export function stopsCancels(wait: Wait): boolean {
  return wait.sourceId === "" && CANCEL_WAITS.includes(wait.code);
}
