const HOUR_MS = 3_600_000;

/** How long before it a decision is asked for again, where there was that much time. */
const NEAR_MS = 4 * HOUR_MS;

/**
 * From when on people are reminded of a decision: four hours before it is due, or halfway where
 * there was less time from the start.
 *
 * All are business-clock instants.
 */
export function remindFromMs(plannedAtMs: number, decideByMs: number): number {
  return decideByMs - Math.min(NEAR_MS, Math.max(0, decideByMs - plannedAtMs) / 2);
}
