import { DAY_MS } from "../../contracts/durations.ts";
import { addDays, dateOfUtcMs, isoWeekday, utcMsOfDate } from "./dates.ts";

/** The zone of cut-offs, execution and settlement (API specification, section 3). */
export const NEW_YORK = "America/New_York";

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Zone offsets change only at quarters of an hour, so they are cached for each quarter: Intl is
 * slow.
 */
const QUARTER_MS = 900_000;
const offsets = new Map<string, number>();
const OFFSETS_MOST = 1_000;

/** Returns the date in New York at an instant. */
export function newYorkDate(instantMs: number): string {
  return zonedDate(instantMs, NEW_YORK);
}

/** Returns the instant at which clocks in New York show `time` (`HH:MM`) on `date`. */
export function newYorkInstantMs(date: string, time: string): number {
  return zonedInstantMs(date, time, NEW_YORK);
}

/** Returns the week of a date, Monday to Sunday, both included. */
export function weekOf(date: string): { readonly monday: string; readonly sunday: string } {
  const monday = addDays(date, 1 - isoWeekday(date));
  return { monday, sunday: addDays(monday, 6) };
}

/**
 * Returns the date in a zone at an instant.
 *
 * @throws {RangeError} for an unknown zone or a wrong instant
 */
export function zonedDate(instantMs: number, zone: string): string {
  return dateOfUtcMs(instantMs + offsetMs(instantMs, zone));
}

/** Returns the wall time in a zone at an instant, `HH:MM`. */
export function zonedWallTime(instantMs: number, zone: string): string {
  return new Date(instantMs + offsetMs(instantMs, zone)).toISOString().slice(11, 16);
}

/**
 * Returns the instant at which clocks in `zone` show `time` on `date`.
 *
 * If the time occurs twice (clocks set back), returns the first. If it doesn't occur (clocks set
 * forward), the instant is later by the length of the gap.
 *
 * @param time `HH:MM`, 24 hours
 */
export function zonedInstantMs(date: string, time: string, zone: string): number {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time);
  if (match === null) throw new RangeError(`not a time (HH:MM): "${time}"`);
  const wall = utcMsOfDate(date) + (Number(match[1]) * 60 + Number(match[2])) * 60_000;
  const before = offsetMs(wall - DAY_MS, zone);
  const after = offsetMs(wall + DAY_MS, zone);
  const early = wall - before;
  if (offsetMs(early, zone) === before) return early;
  const late = wall - after;
  return offsetMs(late, zone) === after ? late : early;
}

/** Returns the milliseconds to add to an instant to get the zone's wall time as if it were UTC. */
function offsetMs(instantMs: number, zone: string): number {
  const quarter = Math.floor(instantMs / QUARTER_MS);
  const key = `${quarter} ${zone}`;
  let offset = offsets.get(key);
  if (offset === undefined) {
    offset = readOffsetMs(quarter * QUARTER_MS, zone);
    if (offsets.size >= OFFSETS_MOST) offsets.clear();
    offsets.set(key, offset);
  }
  return offset;
}

function readOffsetMs(whole: number, zone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(whole)) {
    if (type !== "literal") parts[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formats.set(zone, format);
  }
  return format;
}
