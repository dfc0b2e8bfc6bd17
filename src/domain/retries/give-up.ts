import { DAY_MS } from "../../contracts/durations.ts";
import { type Clock, PEOPLE_MIN_MS } from "../clock/clock.ts";

/** When a failed bill's retry began, and how long its playbook lets it wait. */
interface Waiting {
  /** Business-clock instant. */
  readonly failedAtMs: number;
  readonly failedRealMs: number;
  readonly giveUpAfterDays: number;
}

/**
 * Returns the real milliseconds until a failed bill is given up if no person acts; 0 if it is due.
 */
export function giveUpInMs(
  { failedAtMs, failedRealMs, giveUpAfterDays }: Waiting,
  clock: Clock,
): number {
  const leftMs = clock.realMsUntil(failedAtMs + giveUpAfterDays * DAY_MS);
  return Math.max(0, leftMs, failedRealMs + PEOPLE_MIN_MS - clock.realMs);
}
