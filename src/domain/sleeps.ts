import { DAY_MS } from "../contracts/durations.ts";
import { growingMs } from "./back-off.ts";

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
const MONEY = {
  sandbox: { share: 0.1, firstMs: 1_000, mostMs: 120_000 },
  real: { share: 0.1, firstMs: 60_000, mostMs: 30 * 60_000 },
} as const;

/**
 * Returns the real milliseconds until the next poll for money that has been awaited for `waitedMs`.
 */
export function moneyPollInMs(
  waitedMs: number,
  { sandbox }: { readonly sandbox: boolean },
): number {
  return growingMs(waitedMs, sandbox ? MONEY.sandbox : MONEY.real);
}

/**
 * Returns the real milliseconds until the next business-clock instant at which something can
 * change.
 *
 * @param instants business-clock instants; past ones have had their effect
 */
export function untilNextMs(
  instants: readonly (number | null | undefined)[],
  { businessMs, scale }: { readonly businessMs: number; readonly scale: number },
): number {
  const next = instants.filter(
    (atMs): atMs is number => atMs !== null && atMs !== undefined && atMs > businessMs,
  );
  return (Math.min(...next) - businessMs) / scale;
}

/** Returns the shortest of several waits in whole milliseconds, within the bounds above. */
export function soonestSleepMs(...sleepsMs: readonly number[]): number {
  return Math.max(LEAST_SLEEP_MS, Math.ceil(Math.min(LONGEST_SLEEP_MS, ...sleepsMs)));
}
