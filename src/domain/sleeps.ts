import { DAY_MS } from "../contracts/durations.ts";
import { growingMs } from "./back-off.ts";
import type { Clock } from "./clock/clock.ts";

/**
 * Longest wait of a workflow that gets a signal for everything it waits for. Only a lost signal is
 * noticed this late.
 */
export const LONGEST_SLEEP_MS = 7 * DAY_MS;

/** Shortest wait, so that a workflow never spins. */
const LEAST_SLEEP_MS = 250;

/**
 * Intervals of polling for money whose arrival no event reports: a tenth of the time waited so far,
 * in real time.
 */
const MONEY = { share: 0.1, firstMs: 60_000, mostMs: 30 * 60_000 } as const;

/**
 * Returns the real milliseconds until the next poll for money that has been awaited for `waitedMs`.
 */
export function moneyPollInMs(waitedMs: number, clock: Clock): number {
  const { share, firstMs, mostMs } = MONEY;
  const bounds = { firstMs: clock.soonerMs(firstMs), mostMs: clock.soonerMs(mostMs) };
  return growingMs(waitedMs, { share, ...bounds });
}

/**
 * Returns the real milliseconds until the next business-clock instant at which something can
 * change.
 *
 * @param instants business-clock instants; past ones have had their effect
 */
export function untilNextMs(
  instants: readonly (number | null | undefined)[],
  clock: Clock,
): number {
  const next = instants.filter(
    (atMs): atMs is number => atMs !== null && atMs !== undefined && atMs > clock.businessMs,
  );
  return clock.realMsUntil(Math.min(...next));
}

/** Returns the shortest of several waits in whole milliseconds, within the bounds above. */
export function soonestSleepMs(...sleepsMs: readonly number[]): number {
  return Math.max(LEAST_SLEEP_MS, Math.ceil(Math.min(LONGEST_SLEEP_MS, ...sleepsMs)));
}
