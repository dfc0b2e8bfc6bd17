import type { Assessment } from "../../contracts/activities.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import { doublingMs } from "../back-off.ts";

/** How long a workflow rests between two looks, in real milliseconds. */
export interface Rest {
  /** It looks after this time though nobody has told it anything. */
  readonly wakeInMs: number;
  /** What it is told is gathered for this long before it looks: many events are one look. */
  readonly gatherMs?: number;
}

/** So often in a row a workflow may act without any effect; after that it pauses in between. */
const ACTS_IN_A_ROW = 5;
const PAUSE = { firstMs: 1_000, mostMs: 60_000 } as const;

/**
 * How long a workflow pauses that acts, and finds everything as it was: asking faster would not help.
 *
 * @param acts turns in a row that have changed nothing
 */
export function pauseAfterMs(acts: number): number {
  return acts < ACTS_IN_A_ROW ? 0 : doublingMs(PAUSE.firstMs, PAUSE.mostMs, acts - ACTS_IN_A_ROW);
}

/** While lanes pay, reads take requests from them, and what they would find can wait. */
const RESTS_WHILE_PAYING = 5;

/** What a run of many bills is told of their payments is gathered for so long at most. */
const GATHERS_MOST_MS = 5_000;

/** Phases in which thousands of events come; before them it is people who have said something. */
const HAS_PAYMENTS: readonly RunPhase[] = ["paying", "settling"];

/** What a run has done lately; instants are 0 where it has not yet. */
export interface Pace {
  /** When it has read payments. */
  readonly followedAtMs: number;
  readonly payingSinceMs: number;
  /** True while lanes pay. */
  readonly isPaying: boolean;
  /** True once it has read payments after the last was made. */
  readonly hasReadAllPaid: boolean;
}

type Standing = Pick<Assessment, "phase" | "toFollow" | "wakeInMs" | "restMs">;

/**
 * How long a run of many bills still leaves their payments alone: each read reads all that was
 * paid since its plan. Once nothing is left to pay, the first read comes at once.
 */
export function followsInMs({ restMs, phase }: Standing, pace: Pace, nowMs: number): number {
  if (restMs === undefined || (phase === "settling" && !pace.hasReadAllPaid)) return 0;
  const sinceMs = Math.max(pace.followedAtMs, pace.payingSinceMs);
  const times = pace.isPaying ? RESTS_WHILE_PAYING : 1;
  return Math.max(0, sinceMs + times * restMs - nowMs);
}

/** How long a run rests: what it is told of wakes it, and so does what it has left for later. */
export function restOfRun(now: Standing, pace: Pace, nowMs: number): Rest {
  const { phase, restMs = 0, toFollow, wakeInMs } = now;
  const isFollowedLater = toFollow > 0 && restMs > 0;
  const followMs = isFollowedLater ? followsInMs(now, pace, nowMs) : Infinity;
  const leftMs = Math.min(wakeInMs, followMs);
  const gatherMs = HAS_PAYMENTS.includes(phase) ? Math.min(restMs, GATHERS_MOST_MS) : 0;
  return { wakeInMs: Math.max(leftMs, gatherMs), gatherMs };
}
