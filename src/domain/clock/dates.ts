/** Arithmetic on plain dates, `YYYY-MM-DD` texts; they sort and compare as texts. */

const DAY_MS = 86_400_000;
const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** True for an existing day written as `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!DATE_PATTERN.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(ms) && dateOfUtcMs(ms) === text;
}

/** Midnight UTC of a date, for arithmetic only. @throws {RangeError} for anything but a date */
export function utcMsOfDate(date: string): number {
  if (!isDate(date)) throw new RangeError(`not a date (YYYY-MM-DD): "${date}"`);
  return Date.parse(`${date}T00:00:00Z`);
}

/** The UTC date of an instant. */
function dateOfUtcMs(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The date `days` calendar days later, or earlier where negative. */
export function addDays(date: string, days: number): string {
  return dateOfUtcMs(utcMsOfDate(date) + days * DAY_MS);
}

/** Calendar days from `from` to `to`, negative where `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((utcMsOfDate(to) - utcMsOfDate(from)) / DAY_MS);
}

/** 1 for Monday to 7 for Sunday. */
export function isoWeekday(date: string): number {
  return new Date(utcMsOfDate(date)).getUTCDay() || 7;
}
