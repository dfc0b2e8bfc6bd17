import { isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { newYorkDate, newYorkInstantMs } from "../clock/new-york.ts";

const FIRST_MS = 5_000;
const LONGEST_MS = 30 * 60_000;

/** What has not changed for so long waits for a bank, whose news come a few times a day. */
const RESTING_MS = 30 * 60_000;
/** In New York, when banks work: before the cut-off at 9:00, after the morning's settlement, after the day's. */
const REST_TIMES = ["08:00", "13:00", "18:00"] as const;

/** A fast bank clock is not polled more often than this, in real time. */
const REAL_MIN_MS = 1_500;

/**
 * When a payment is read again that no event has spoken of, on the business clock.
 *
 * Soon after its last change and then ever more rarely in the first half hour, and three times a
 * banking day from then on: a lost event of a payment that moves at once costs seconds,
 * and waiting for a bank costs a read now and then. The times fall on a grid, so that payments
 * made together are read together.
 *
 * @param sinceMs instant of the last change
 * @param scale business seconds in a real second; a clock that runs fast knows no rest
 */
export function nextPollMs(nowMs: number, sinceMs: number, scale: number): number {
  const age = Math.max(0, nowMs - sinceMs);
  if (scale <= 1 && age > RESTING_MS) return nextRestMs(nowMs);
  let step = FIRST_MS;
  while (step < age && step < LONGEST_MS) step *= 2;
  step = Math.min(step, LONGEST_MS);
  const floorMs = scale > 1 ? REAL_MIN_MS * scale : 0;
  if (floorMs >= step) return nowMs + floorMs;
  return (Math.floor(nowMs / step) + 1) * step;
}

/** The next morning on which a bank works, before the cut-off of that day. */
export function nextBankMorningMs(nowMs: number): number {
  return newYorkInstantMs(nextBankingDay(newYorkDate(nowMs)), REST_TIMES[0]);
}

function nextRestMs(nowMs: number): number {
  const today = newYorkDate(nowMs);
  const days = [...(isBankingDay(today) ? [today] : []), nextBankingDay(today)];
  for (const date of days) {
    for (const time of REST_TIMES) {
      const atMs = newYorkInstantMs(date, time);
      if (atMs > nowMs) return atMs;
    }
  }
  throw new RangeError(`no time to read a payment after ${nowMs}`);
}
