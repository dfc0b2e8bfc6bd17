import { HOUR_MS, MINUTE_MS } from "../../contracts/durations.ts";
import type { Span } from "../../contracts/playbook.ts";
import { addBankingDays } from "./bank-calendar.ts";
import type { Clock } from "./clock.ts";
import { NEW_YORK, newYorkDate, newYorkInstantMs, zonedWallTime } from "./new-york.ts";

const UNIT_MS = { hours: HOUR_MS, days: 24 * HOUR_MS } as const;

/**
 * Returns the instant one span later, on the business clock. A span of business days ends at the
 * same New York time of day, on a banking day.
 */
export function afterSpan(instantMs: number, { count, unit }: Span): number {
  if (unit !== "business days") return instantMs + count * UNIT_MS[unit];
  const date = addBankingDays(newYorkDate(instantMs), count);
  // The wall time, not the time since midnight: they differ on the two days on which clocks change.
  return newYorkInstantMs(date, zonedWallTime(instantMs, NEW_YORK)) + (instantMs % MINUTE_MS);
}

/**
 * Returns when a span is over that people are given, counted from now: `afterSpan`, but never less
 * than the real time that people get.
 */
export function dueForPeopleMs(clock: Clock, span: Span): number {
  const soonestMs = clock.afterRealMs(clock.peopleMinMs);
  return Math.round(Math.max(afterSpan(clock.businessMs, span), soonestMs));
}

/** Formats a span: `1 day`, `2 business days`. */
export function spanText({ count, unit }: Span): string {
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}
