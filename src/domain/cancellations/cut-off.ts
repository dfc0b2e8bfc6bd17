import { addBankingDays } from "../clock/bank-calendar.ts";
import type { Clock } from "../clock/clock.ts";
import { namedDay } from "../clock/named-day.ts";
import { newYorkDate, newYorkInstantMs } from "../clock/new-york.ts";
import { TOO_LATE } from "./left-to-people.ts";
import { stateIs } from "../../contracts/line-states.ts";

/** When the service executes a scheduled payment, in New York (API specification, section 3). */
const EXECUTION_TIME = "09:00";

/** A cancel is sent at least this long before the payment executes, on the business clock. */
const MARGIN_MS = 5 * 60_000;

/**
 * The same in real time, which counts if the business clock runs fast. It is longer than a request
 * takes.
 */
const REAL_MARGIN_MS = 12_000;

/**
 * Returns when a scheduled payment executes: 9:00 New York on its date.
 *
 * @param scheduledAt as the service gives it, an instant or a date
 * @returns a business-clock instant; null if it names no day
 */
export function executionMs(scheduledAt: string): number | null {
  const day = namedDay(scheduledAt);
  return day === null ? null : newYorkInstantMs(day, EXECUTION_TIME);
}

/**
 * Returns the last business-clock instant at which a cancel is sent; null if only the service knows
 * when the payment executes.
 */
export function cancelUntilMs(scheduledAt: string, clock: Clock): number | null {
  const runsMs = executionMs(scheduledAt);
  if (runsMs === null) return null;
  const takesMs = clock.afterRealMs(REAL_MARGIN_MS) - clock.businessMs;
  return runsMs - Math.max(MARGIN_MS, takesMs);
}

/**
 * The state of a payment, in the service's words or a line's, and the day for which it is
 * scheduled.
 */
interface Recallable {
  readonly state: string;
  /** Null if the service doesn't say. */
  readonly scheduledAt: string | null;
  /**
   * True if its bill has several payments on their way. Of several scheduled ones, the service
   * cancels none.
   */
  readonly isSplit?: boolean;
}

/**
 * Judges whether a payment can still be cancelled, and until when (API specification, section 3): a
 * held one at any time, regardless of its day; a scheduled one up to and at its cut-off.
 *
 * @returns undefined if not; `untilMs` null if there is no known end
 */
export function recallOf(
  { state, scheduledAt, isSplit = false }: Recallable,
  clock: Clock,
): { readonly untilMs: number | null } | undefined {
  if (state === "held") return { untilMs: null };
  if (state !== "scheduled" || isSplit) return undefined;
  const untilMs = scheduledAt === null ? null : cancelUntilMs(scheduledAt, clock);
  return untilMs !== null && clock.businessMs > untilMs ? undefined : { untilMs };
}

/** Whether a bill's payment at the service can still be cancelled. */
export interface BillRecall {
  /** Until when, in ISO 8601; null if it can't be, or if there is no known end. */
  readonly by: string | null;
  /** Why it can't be; null if it can. */
  readonly why: string | null;
}

/**
 * Judges whether the payment of a bill can still be cancelled, and until when.
 *
 * @returns undefined if the service has no scheduled or held payment of it
 */
export function recallOfBill(of: Recallable, clock: Clock): BillRecall | undefined {
  if (!stateIs("recallable", of.state)) return undefined;
  const recall = recallOf(of, clock);
  if (recall === undefined) {
    return { by: null, why: of.isSplit === true ? TOO_LATE.severalScheduled : TOO_LATE.tooClose };
  }
  return { by: recall.untilMs === null ? null : new Date(recall.untilMs).toISOString(), why: null };
}

/**
 * Returns the last instant at which a held-back bill can be released and still be paid on its date.
 *
 * @param executionDate `YYYY-MM-DD`
 * @param until `time` is `HH:MM` in New York
 */
export function releaseByMs(
  executionDate: string,
  until: { readonly time: string; readonly businessDaysBefore: number },
): number {
  const day = addBankingDays(executionDate, -until.businessDaysBefore);
  return newYorkInstantMs(day, until.time);
}

/**
 * Returns the instant from which a refund is late: the end of the n-th banking day after its
 * cancel.
 */
export function refundLateFromMs(cancelledAtMs: number, businessDays: number): number {
  const day = addBankingDays(newYorkDate(cancelledAtMs), businessDays);
  return newYorkInstantMs(day, "23:59") + 60_000;
}
