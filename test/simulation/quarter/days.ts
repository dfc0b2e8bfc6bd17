import {
  newYorkDay,
  newYorkInstant,
  settlementInstant,
} from "../../../src/sandbox/payments/banking-days.ts";

export function addDays(date: string, days: number): string {
  const at = new Date(`${date}T12:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, 10);
}

/** True if banks work on this date. */
export function isBankingDay(date: string): boolean {
  const before = newYorkInstant(addDays(date, -1), "12:00");
  return newYorkDay(settlementInstant(before, 1)) === date;
}

/** Returns the date itself, or the last one before it on which banks work. */
export function dayBefore(date: string): string {
  return isBankingDay(date) ? date : dayBefore(addDays(date, -1));
}
