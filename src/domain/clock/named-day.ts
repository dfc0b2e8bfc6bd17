import { isDate } from "./dates.ts";
import { newYorkDate } from "./new-york.ts";

/** A date, its midnight in UTC, or a time without a zone: each of them names only the day. */
const DAY =
  /^(\d{4}-\d{2}-\d{2})(?:$|[T ]00:00(?::00(?:\.0+)?)?(?:[Zz]|[+-]00(?::?00)?)$|[T ][\d:.]+$)/;

/**
 * Reads a field that names a day (`scheduledAt`, due and issue dates), which services write as a
 * date or as an instant: midnight UTC is that date, any other instant its date in New York.
 *
 * This is the one reading of such fields.
 *
 * @returns `YYYY-MM-DD`; null if it names no day
 */
export function namedDay(text: string | null | undefined): string | null {
  const day = DAY.exec(text ?? "")?.[1];
  if (day === undefined) return dayOfInstant(text);
  return isDate(day) ? day : null;
}

/**
 * Returns the date in New York of a field that is an instant (`createdAt`, `processedAt`,
 * `updatedAt`), or of a plain date in its place; null for anything else.
 */
export function dayOfInstant(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  if (isDate(text)) return text;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return null;
  const date = newYorkDate(ms);
  return isDate(date) ? date : null;
}
