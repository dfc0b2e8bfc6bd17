import type { Assessment } from "../../contracts/activities.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import { doublingMs } from "../back-off.ts";

/** How long a workflow waits between two looks, in real milliseconds. */
export interface Sleep {
  /** It looks after this time even without a signal. */
  readonly wakeInMs: number;
  /** Signals are gathered for this long before it looks: many events cause one look. */
  readonly gatherMs?: number;
}

/** A workflow may act this many times in a row without effect before it pauses. */
const ACTS_IN_A_ROW = 5;
const PAUSE = { firstMs: 1_000, mostMs: 60_000 } as const;

/**
 * Returns how long a workflow pauses when its acts change nothing, in milliseconds: looking sooner
 * would not help.
 *
 * @param acts turns in a row that have changed nothing
 */
export function pauseAfterMs(acts: number): number {
  return acts < ACTS_IN_A_ROW ? 0 : doublingMs(PAUSE.firstMs, PAUSE.mostMs, acts - ACTS_IN_A_ROW);
}

/** Reads are this much rarer while lanes pay: they compete for requests, and can wait. */
const INTERVALS_WHILE_PAYING = 5;

/** The longest time for which a run of many bills gathers signals. */
const GATHERS_MOST_MS = 5_000;

/** Phases with thousands of events; in earlier phases people send the signals. */
const HAS_PAYMENTS: readonly RunPhase[] = ["paying", "settling"];

/** A run's recent activity; an instant is 0 if it has not come yet. */
export interface Pace {
  /** When it last read payments. */
  readonly followedAtMs: number;
  readonly payingSinceMs: number;
  /** True while lanes pay. */
  readonly isPaying: boolean;
  /** True once it has read payments after making the last one. */
  readonly hasReadAllPaid: boolean;
}

type Standing = Pick<Assessment, "phase" | "toFollow" | "wakeInMs" | "followEveryMs">;

/**
 * Returns how many milliseconds a run of many bills waits before it reads their payments again:
 * each read covers everything paid since its plan. When nothing is left to pay, the first read
 * comes at once.
 */
export function followsInMs({ followEveryMs, phase }: Standing, pace: Pace, nowMs: number): number {
  if (followEveryMs === undefined || (phase === "settling" && !pace.hasReadAllPaid)) return 0;
  const sinceMs = Math.max(pace.followedAtMs, pace.payingSinceMs);
  const times = pace.isPaying ? INTERVALS_WHILE_PAYING : 1;
  return Math.max(0, sinceMs + times * followEveryMs - nowMs);
}

/** Returns how long a run waits, unless a signal comes or a postponed read is due. */
export function sleepOfRun(now: Standing, pace: Pace, nowMs: number): Sleep {
  const { phase, followEveryMs = 0, toFollow, wakeInMs } = now;
  const isFollowedLater = toFollow > 0 && followEveryMs > 0;
  const followMs = isFollowedLater ? followsInMs(now, pace, nowMs) : Infinity;
  const leftMs = Math.min(wakeInMs, followMs);
  const gatherMs = HAS_PAYMENTS.includes(phase) ? Math.min(followEveryMs, GATHERS_MOST_MS) : 0;
  return { wakeInMs: Math.max(leftMs, gatherMs), gatherMs };
}
