import { DAY_MS } from "../../contracts/durations.ts";

/** Arithmetic on plain dates, which are `YYYY-MM-DD` texts and compare as texts. */

const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Cache: runs of many bills need the same few dates hundreds of thousands of times. */
const known = new Map<string, number>();
const KNOWN_MOST = 5_000;

/** Years beyond which a day is a mistake, and calendars can't count with its neighbors. */
const YEARS = { first: "1900", last: "2999" };

/** The years of dates, as messages name them. */
export const SENSIBLE_YEARS = `of the years ${YEARS.first} to ${YEARS.last}`;

/** True for an existing day of a sensible year, written as `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  const year = text.slice(0, "YYYY".length);
  return year >= YEARS.first && year <= YEARS.last && knownUtcMs(text) !== undefined;
}

/** True for an instant of a sensible year, which calendars and ISO 8601 can write. */
export function isSensibleMs(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime()) && isDate(dateOfUtcMs(ms));
}

/**
 * Returns midnight UTC of a date, for arithmetic only. @throws {RangeError} for anything but a date
 */
export function utcMsOfDate(date: string): number {
  const ms = knownUtcMs(date);
  if (ms === undefined) throw new RangeError(`not a date (YYYY-MM-DD): "${date}"`);
  return ms;
}

function knownUtcMs(text: string): number | undefined {
  const before = known.get(text);
  if (before !== undefined) return before;
  if (!DATE_PATTERN.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (!Number.isFinite(ms) || dateOfUtcMs(ms) !== text) return undefined;
  if (known.size >= KNOWN_MOST) known.clear();
  known.set(text, ms);
  return ms;
}

/** Returns the UTC date of an instant. */
export function dateOfUtcMs(ms: number): string {
  return dateIn(new Date(ms).toISOString());
}

/** Returns the date with which an ISO 8601 instant, or a period, begins. */
export function dateIn(text: string): string {
  return text.slice(0, "YYYY-MM-DD".length);
}

/** Returns the date `days` calendar days later; earlier if negative. */
export function addDays(date: string, days: number): string {
  return dateOfUtcMs(utcMsOfDate(date) + days * DAY_MS);
}

/** Returns the calendar days from `from` to `to`; negative if `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((utcMsOfDate(to) - utcMsOfDate(from)) / DAY_MS);
}

/** Returns 1 for Monday to 7 for Sunday. */
export function isoWeekday(date: string): number {
  return new Date(utcMsOfDate(date)).getUTCDay() || 7;
}
