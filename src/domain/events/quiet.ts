import { MINUTE_MS } from "../../contracts/durations.ts";
import { doublingMs } from "../back-off.ts";

const LONGEST_MS = 60 * MINUTE_MS;

/** Starts within this time are counted. */
export const LATELY_MS = 24 * 60 * MINUTE_MS;

/** Earlier starts of the same playbook by events. */
export interface EarlierStarts {
  /** Starts for the same subject within `LATELY_MS`. */
  readonly lately: number;
  /** The last of them; null for none. */
  readonly lastMs: number | null;
  /** The playbook's last start for any subject; null if that doesn't matter. */
  readonly lastOfPlaybookMs: number | null;
  /** When a start for the same subject is already due; null for none. */
  readonly dueMs: number | null;
}

/**
 * Returns when an event starts its playbook: at once, unless another start came just before.
 *
 * A subject that changes again and again starts it once a minute, then every two, four … minutes,
 * and finally once an hour. No event is lost: those that come during the pause start it together at
 * the end, and it reads the latest state.
 */
export function dueAtMs(earlier: EarlierStarts, nowMs: number): number {
  if (earlier.dueMs !== null) return earlier.dueMs;
  const afterSubject = earlier.lastMs === null ? 0 : earlier.lastMs + quietMs(earlier.lately);
  const afterPlaybook =
    earlier.lastOfPlaybookMs === null ? 0 : earlier.lastOfPlaybookMs + MINUTE_MS;
  return Math.max(nowMs, afterSubject, afterPlaybook);
}

function quietMs(starts: number): number {
  return doublingMs(MINUTE_MS, LONGEST_MS, Math.max(0, starts - 1));
}
