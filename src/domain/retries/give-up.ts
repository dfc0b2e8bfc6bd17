import { DAY_MS } from "../../contracts/durations.ts";
import type { Clock } from "../clock/clock.ts";

/** Real time that people get in any case: a sandbox's clock may be stepped over the days. */
const PEOPLE_GET_MS = 60_000;

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
  return Math.max(0, leftMs, failedRealMs + PEOPLE_GET_MS - clock.realMs);
}
