import { utcMsOfDate } from "./dates.ts";
import { NEW_YORK, zonedWallTime } from "./new-york.ts";

/**
 * How people are told times: in the zone that their profile names, New York's unless it names one,
 * and always with that zone. Every text that a person reads takes its times from here.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

type Instant = string | number;

const DAY = { weekday: "short", month: "short", day: "numeric" } as const;
const CLOCK = { hour: "numeric", minute: "2-digit" } as const;

/** `Mon, Nov 23, 9:00 AM New York`. */
export function spokenTime(at: Instant, zone: string = NEW_YORK): string {
  return `${formatted(at, zone, { ...DAY, ...CLOCK })} ${zoneName(zone)}`;
}

/** `Mon, Nov 23`. */
export function spokenDay(at: Instant, zone: string = NEW_YORK): string {
  return formatted(at, zone, DAY);
}

/** The same of a plain date, `2026-11-23`. @throws {RangeError} for anything but a date */
export function spokenDate(date: string): string {
  return spokenDay(utcMsOfDate(date), "UTC");
}

/**
 * The last moment before an instant, as people name a deadline: of Monday 12:00 AM it is `Sunday,
 * Nov 22, 11:59 PM New York`. With how long is left, if it is said what time it is.
 */
export function spokenDeadline(at: Instant, { zone = NEW_YORK, now }: Moment = {}): string {
  const ms = msOf(at);
  const last = isMidnight(ms) ? ms - MINUTE_MS : ms;
  const text = `${formatted(last, zone, { ...DAY, weekday: "long", ...CLOCK })} ${zoneName(zone)}`;
  const leftMs = now === undefined || now === null ? 0 : ms - msOf(now);
  return leftMs <= 0 ? text : `${text}, ${spokenSpan(leftMs)} left`;
}

/** True where it is known what time it is, and that an instant has come. */
export function isPast(at: Instant, { now }: Moment = {}): boolean {
  return now !== undefined && now !== null && msOf(now) >= msOf(at);
}

/** Banks' days end at midnight in New York, wherever one reads of it. */
function isMidnight(ms: number): boolean {
  return zonedWallTime(ms, NEW_YORK) === "00:00";
}

/** What time it is, and where. */
export interface Moment {
  /** IANA name; New York's if nothing is said. */
  readonly zone?: string | undefined;
  readonly now?: Instant | null | undefined;
}

/** `2 days 3 hours`, `3 hours 5 minutes`, `5 minutes`, `less than a minute`. */
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

/** For lists of what happened, whose heading names the zone: `2026-11-23 09:00:05`. */
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

/** For what must be found again by its second: `2026-11-23 09:00:05 New York`. */
export function spokenSecond(at: Instant, zone: string = NEW_YORK): string {
  return `${spokenStamp(at, zone)} ${zoneName(zone)}`;
}

/** `New York`. */
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
