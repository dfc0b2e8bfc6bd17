import { doublingMs } from "../back-off.ts";

const MINUTE_MS = 60_000;
const LONGEST_MS = 60 * MINUTE_MS;

/** Within this time starts are counted. */
export const LATELY_MS = 24 * 60 * MINUTE_MS;

/** What has been started before by events of the same kind. */
export interface EarlierStarts {
  /** Starts for the same subject within `LATELY_MS`. */
  readonly lately: number;
  /** The last of them; null for none. */
  readonly lastMs: number | null;
  /** The playbook's last start for whatever subject; null where that doesn't matter. */
  readonly lastOfPlaybookMs: number | null;
  /** When a start for the same is due already; null for none. */
  readonly dueMs: number | null;
}

/**
 * When an event starts what it asks for: at once, unless there has been a start a moment ago.
 *
 * A subject that changes without end is started for once a minute, then every two, four … minutes,
 * and once an hour in the end. Nothing is left out: what comes meanwhile starts together at the end
 * of the pause, which sees the latest state.
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
