import type { Clock } from "../clock/clock.ts";
import { isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { newYorkDate, newYorkInstantMs } from "../clock/new-york.ts";

const FIRST_MS = 5_000;
/**
 * The first interval of a payment that is read alone. It is long because thousands may be paid
 * again at once.
 */
export const FIRST_ALONE_MS = 5 * 60_000;
const LONGEST_MS = 30 * 60_000;

/** A payment unchanged for this long waits for a bank, which reports a few times a day. */
const BANK_PACE_AFTER_MS = 30 * 60_000;
/**
 * Poll times in New York: before the cut-off at 9:00, after the morning's settlement, after the
 * evening's.
 */
const BANK_POLL_TIMES = ["08:00", "13:00", "18:00"] as const;

/** Shortest real time between polls, which counts if the bank's days pass in seconds. */
const REAL_MIN_MS = 1_500;

/**
 * Returns the business-clock instant at which to read a payment again without an event.
 *
 * Polls come soon after its last change, less and less often during the first half hour, and then
 * three times a banking day. If an event is lost, a payment that moves at once is seen within
 * seconds, and waiting for a bank costs few reads. The times fall on a grid, so that payments made
 * together are read together.
 *
 * @param sinceMs instant of the last change
 * @param firstMs the first interval
 */
export function nextPollMs(clock: Clock, sinceMs: number, firstMs = FIRST_MS): number {
  const nowMs = clock.businessMs;
  const soonestMs = clock.afterRealMs(REAL_MIN_MS);
  const age = Math.max(0, nowMs - sinceMs);
  if (age > BANK_PACE_AFTER_MS) return Math.max(soonestMs, nextBankPollMs(nowMs));
  let step = firstMs;
  while (step < age && step < LONGEST_MS) step *= 2;
  step = Math.min(step, LONGEST_MS);
  if (soonestMs - nowMs >= step) return soonestMs;
  return (Math.floor(nowMs / step) + 1) * step;
}

/** Returns the instant of the next banking day's first poll, before that day's cut-off. */
export function nextBankMorningMs(nowMs: number): number {
  return newYorkInstantMs(nextBankingDay(newYorkDate(nowMs)), BANK_POLL_TIMES[0]);
}

function nextBankPollMs(nowMs: number): number {
  const today = newYorkDate(nowMs);
  const days = [...(isBankingDay(today) ? [today] : []), nextBankingDay(today)];
  for (const date of days) {
    for (const time of BANK_POLL_TIMES) {
      const atMs = newYorkInstantMs(date, time);
      if (atMs > nowMs) return atMs;
    }
  }
  throw new RangeError(`no time to read a payment after ${nowMs}`);
}
