import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../contracts/durations.ts";
import { utcMsOfDate } from "./dates.ts";
import { NEW_YORK, zonedWallTime } from "./new-york.ts";

/**
 * Formats times for people: in the zone that their profile names, New York if it names none, and
 * always with that zone. Every text that a person reads takes its times from here.
 */

type Instant = string | number;

const DAY = { weekday: "short", month: "short", day: "numeric" } as const;
const CLOCK = { hour: "numeric", minute: "2-digit" } as const;

/** Formats an instant: `Mon, Nov 23, 9:00 AM New York`. */
export function spokenTime(at: Instant, zone: string = NEW_YORK): string {
  return `${formatted(at, zone, { ...DAY, ...CLOCK })} ${zoneName(zone)}`;
}

/** Formats an instant's day: `Mon, Nov 23`. */
export function spokenDay(at: Instant, zone: string = NEW_YORK): string {
  return formatted(at, zone, DAY);
}

/**
 * Formats a plain date, such as `2026-11-23`, as `spokenDay` does.
 *
 * @throws {RangeError} for anything but a date
 */
export function spokenDate(date: string): string {
  return spokenDay(utcMsOfDate(date), "UTC");
}

/**
 * Formats a deadline as people name it, by its last moment: Monday 12:00 AM is `Sunday, Nov 22,
 * 11:59 PM New York`. Adds how long is left if the current time is given.
 */
export function spokenDeadline(at: Instant, { zone = NEW_YORK, now }: Moment = {}): string {
  const ms = msOf(at);
  const last = isMidnight(ms) ? ms - MINUTE_MS : ms;
  const text = `${formatted(last, zone, { ...DAY, weekday: "long", ...CLOCK })} ${zoneName(zone)}`;
  const leftMs = now === undefined || now === null ? 0 : ms - msOf(now);
  return leftMs <= 0 ? text : `${text}, ${spokenSpan(leftMs)} left`;
}

/** True if the current time is given and the instant has come. */
export function isPast(at: Instant, { now }: Moment = {}): boolean {
  return now !== undefined && now !== null && msOf(now) >= msOf(at);
}

/** True for midnight in New York, when the banks' day ends, whichever zone the text is for. */
function isMidnight(ms: number): boolean {
  return zonedWallTime(ms, NEW_YORK) === "00:00";
}

/** The current time, and the zone to format it in. */
export interface Moment {
  /** IANA name; New York if missing. */
  readonly zone?: string | undefined;
  readonly now?: Instant | null | undefined;
}

/**
 * Formats a length of time: `2 days 3 hours`, `3 hours 5 minutes`, `5 minutes`, `less than a
 * minute`.
 */
export function spokenSpan(ms: number): string {
  const [days, hours, minutes] = [
    Math.floor(ms / DAY_MS),
    Math.floor((ms % DAY_MS) / HOUR_MS),
    Math.floor((ms % HOUR_MS) / MINUTE_MS),
  ];
  const parts =
    days > 0
      ? [unit(days, "day"), unit(hours, "hour")]
      : [unit(hours, "hour"), unit(minutes, "minute")];
  const text = parts.filter((part) => part !== "").join(" ");
  return text === "" ? "less than a minute" : text;
}

function unit(count: number, noun: string): string {
  return count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats an instant for lists of events whose heading names the zone: `2026-11-23 09:00:05`. */
export function spokenStamp(at: Instant, zone: string = NEW_YORK): string {
  const digits = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const clock = {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  } as const;
  const parts: Record<string, string> = {};
  for (const { type, value } of formatOf(zone, { ...digits, ...clock }).formatToParts(msOf(at))) {
    parts[type] = value;
  }
  const { year = "", month = "", day = "", hour = "", minute = "", second = "" } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** Formats an instant that must be found again by its second: `2026-11-23 09:00:05 New York`. */
export function spokenSecond(at: Instant, zone: string = NEW_YORK): string {
  return `${spokenStamp(at, zone)} ${zoneName(zone)}`;
}

/** Returns the name of a zone for people: `New York`. */
export function zoneName(zone: string): string {
  return (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");
}

function formatted(at: Instant, zone: string, options: Intl.DateTimeFormatOptions): string {
  // Intl puts a narrow space before AM and PM, which terminals and searches don't expect.
  return formatOf(zone, options).format(msOf(at)).replaceAll("\u202F", " ");
}

function msOf(at: Instant): number {
  return typeof at === "number" ? at : Date.parse(at);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, ...options });
    formats.set(key, format);
  }
  return format;
}
