import { HOUR_MS, MINUTE_MS } from "../../contracts/durations.ts";
import type { Span } from "../../contracts/playbook.ts";
import { addBankingDays } from "./bank-calendar.ts";
import { NEW_YORK, newYorkDate, newYorkInstantMs, zonedWallTime } from "./new-york.ts";

const UNIT_MS = { hours: HOUR_MS, days: 24 * HOUR_MS } as const;

/** The least real time that people get, however fast a sandbox's clock runs. */
export const PEOPLE_MIN_MS = 60_000;

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
 * Returns `afterSpan`, but at least a minute of real time later if the business clock runs fast.
 */
export function dueForPeopleMs(
  clock: { readonly businessMs: number; readonly scale: number },
  span: Span,
): number {
  const leastMs = clock.scale > 1 ? PEOPLE_MIN_MS * clock.scale : 0;
  return Math.round(Math.max(afterSpan(clock.businessMs, span), clock.businessMs + leastMs));
}

/** Formats a span: `1 day`, `2 business days`. */
export function spanText({ count, unit }: Span): string {
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}
