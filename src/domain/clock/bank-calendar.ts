import { addDays, isoWeekday } from "./dates.ts";

const MONDAY = 1;
const THURSDAY = 4;
const SATURDAY = 6;
const SUNDAY = 7;

const holidaysByYear = new Map<number, ReadonlySet<string>>();

let lastAsked: { readonly date: string; readonly next: string } | undefined;

/**
 * True if the Federal Reserve moves ACH money on this date: not on weekends or Fed holidays.
 *
 * A holiday on a Saturday closes nothing: the Friday before stays open. A holiday on a Sunday
 * closes the Monday after.
 *
 * @param date `YYYY-MM-DD`
 */
export function isBankingDay(date: string): boolean {
  return isoWeekday(date) < SATURDAY && !holidaysOf(Number(date.slice(0, 4))).has(date);
}

/** Returns the first banking day after `date`. */
export function nextBankingDay(date: string): string {
  // Cached, because planning needs the same day for each bill.
  if (date !== lastAsked?.date) lastAsked = { date, next: addBankingDays(date, 1) };
  return lastAsked.next;
}

/**
 * Returns the n-th banking day after `date`, or before it if `n` is negative. For 0, returns `date`
 * itself, banking day or not.
 */
export function addBankingDays(date: string, n: number): string {
  if (!Number.isInteger(n)) throw new RangeError(`banking days must be whole, got ${String(n)}`);
  const step = n < 0 ? -1 : 1;
  let day = date;
  for (let left = Math.abs(n); left > 0;) {
    day = addDays(day, step);
    if (isBankingDay(day)) left -= 1;
  }
  return day;
}

/** Returns `date` if it is a banking day, otherwise the last banking day before it. */
export function bankingDayOnOrBefore(date: string): string {
  return isBankingDay(date) ? date : addBankingDays(date, -1);
}

function holidaysOf(year: number): ReadonlySet<string> {
  let holidays = holidaysByYear.get(year);
  if (holidays === undefined) {
    holidays = new Set([
      ...["01-01", "06-19", "07-04", "11-11", "12-25"].map((day) => observed(`${year}-${day}`)),
      weekdayOfMonth(year, 1, MONDAY, 3),
      weekdayOfMonth(year, 2, MONDAY, 3),
      lastMondayOfMay(year),
      weekdayOfMonth(year, 9, MONDAY, 1),
      weekdayOfMonth(year, 10, MONDAY, 2),
      weekdayOfMonth(year, 11, THURSDAY, 4),
    ]);
    holidaysByYear.set(year, holidays);
  }
  return holidays;
}

function observed(date: string): string {
  return isoWeekday(date) === SUNDAY ? addDays(date, 1) : date;
}

function weekdayOfMonth(year: number, month: number, weekday: number, nth: number): string {
  const first = `${year}-${String(month).padStart(2, "0")}-01`;
  const offset = (weekday - isoWeekday(first) + 7) % 7;
  return addDays(first, offset + (nth - 1) * 7);
}

function lastMondayOfMay(year: number): string {
  const last = `${year}-05-31`;
  return addDays(last, MONDAY - isoWeekday(last));
}
