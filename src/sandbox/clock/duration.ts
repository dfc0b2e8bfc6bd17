import { Temporal } from "temporal-polyfill";

/**
 * Returns the instant that lies an ISO 8601 duration (`P3D`, `PT9H30M`, `P1M`) after `fromMs`.
 *
 * It counts in UTC, so that a day is always 24 hours; months and years follow the calendar.
 *
 * @returns milliseconds since the epoch; undefined if the text is not a duration or the result lies
 * outside the range of a date.
 */
export function addDuration(fromMs: number, duration: string): number | undefined {
  try {
    const start = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO("UTC");
    return start.add(Temporal.Duration.from(duration)).epochMilliseconds;
  } catch {
    return undefined;
  }
}
