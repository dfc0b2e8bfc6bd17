const DAY_MS = 86_400_000;

/** Longest return window of ACH, counted from the settlement. */
const RETURN_WINDOW_MS = 60 * DAY_MS;

/** A payment settles days after it was made, and a return is days under way. */
const SLACK_MS = 15 * DAY_MS;

/** Business-clock instant up to which a payment that is made at one may come back. */
export function watchedUntilMs(paidAtMs: number): number {
  return paidAtMs + RETURN_WINDOW_MS + SLACK_MS;
}

/** What arrived before this instant can't come back any more. */
export function watchedSinceMs(nowMs: number): number {
  return nowMs - RETURN_WINDOW_MS - SLACK_MS;
}

/** A payment may wait this long for its day before it settles. */
const SCHEDULED_AHEAD_MS = 60 * DAY_MS;

/** What was made before this instant has settled, and can't come back any more. */
export function followedSinceMs(nowMs: number): number {
  return watchedSinceMs(nowMs) - SCHEDULED_AHEAD_MS;
}
