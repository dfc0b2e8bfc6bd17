import { HOUR_MS } from "../../contracts/durations.ts";

/** How long before the deadline people are reminded, if there was that much time. */
export const DECIDE_SOON_MS = 4 * HOUR_MS;

/**
 * Returns when people are reminded of a decision: four hours before it is due, or halfway if there
 * was less time from the start.
 *
 * All values are business-clock instants.
 */
export function remindFromMs(plannedAtMs: number, decideByMs: number): number {
  return decideByMs - Math.min(DECIDE_SOON_MS, Math.max(0, decideByMs - plannedAtMs) / 2);
}
