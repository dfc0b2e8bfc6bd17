import type { Transaction } from "kysely";
import { Temporal } from "temporal-polyfill";
import { isSensibleMs } from "../../domain/clock/dates.ts";
import { NEW_YORK, newYorkInstantMs } from "../../domain/clock/new-york.ts";
import type { HoldTarget } from "../../domain/holds.ts";
import { createHold, type Hold } from "../../store/holds/holds.ts";
import type { Tables } from "../../store/index.ts";
import { keepNamed } from "../names/find-named.ts";
import type { Named } from "../names/found.ts";

/** A hold to set, on something that was found. */
export interface WantedHold {
  readonly target: HoldTarget;
  /** What the hold is on; undefined for everything. */
  readonly thing: Named | undefined;
  readonly reason: string;
  readonly author: string;
  /** Business-clock instant; null for a hold without end. */
  readonly untilMs: number | null;
}

/** Sets a hold, and stores the names of what it is on. */
export async function createNamedHold(
  trx: Transaction<Tables>,
  businessId: string,
  { target, thing, ...said }: WantedHold & { readonly nowMs: number },
): Promise<Hold> {
  if (thing !== undefined) await keepNamed(trx, businessId, thing);
  return createHold(trx, { businessId, ...target, ...said });
}

/**
 * Returns the instant at which a hold ends by itself.
 *
 * @param text ISO 8601: an instant, a date for the beginning of its day in New York, or a duration
 * from now on
 * @param nowMs the business clock
 * @returns undefined if it ends in no year that calendars know
 */
export function endOf(text: string, nowMs: number): number | undefined {
  const endMs = /^P/i.test(text)
    ? afterDuration(text, nowMs)
    : text.includes("T")
      ? Date.parse(text)
      : newYorkInstantMs(text, "00:00");
  return isSensibleMs(endMs) ? endMs : undefined;
}

/** Returns NaN for a duration that no calendar can add. */
function afterDuration(text: string, nowMs: number): number {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(NEW_YORK);
  try {
    return now.add(Temporal.Duration.from(text)).epochMilliseconds;
  } catch (error) {
    if (error instanceof RangeError) return Number.NaN;
    throw error;
  }
}
