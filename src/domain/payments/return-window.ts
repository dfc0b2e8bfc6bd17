import { DAY_MS } from "../../contracts/durations.ts";

/** Longest ACH return window, counted from settlement. */
const RETURN_WINDOW_MS = 60 * DAY_MS;

/** Allowance: a payment settles days after it is made, and a return takes days. */
const SLACK_MS = 15 * DAY_MS;

/** Returns the business-clock instant until which a payment made at `paidAtMs` may come back. */
export function mayReturnUntilMs(paidAtMs: number): number {
  return paidAtMs + RETURN_WINDOW_MS + SLACK_MS;
}

/** Returns an instant: payments that arrived before it can't come back any more. */
export function mayReturnSinceMs(nowMs: number): number {
  return nowMs - RETURN_WINDOW_MS - SLACK_MS;
}

/** How long before its execution date a payment may be made. */
const SCHEDULED_AHEAD_MS = 60 * DAY_MS;

/** Returns an instant: payments made before it have settled and can't come back any more. */
export function followedSinceMs(nowMs: number): number {
  return mayReturnSinceMs(nowMs) - SCHEDULED_AHEAD_MS;
}
