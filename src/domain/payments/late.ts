import { HOUR_MS } from "../../contracts/durations.ts";
import { addBankingDays } from "../clock/bank-calendar.ts";

/** Banking days to wait after a payment's expected arrival, or execution, before it is late. */
const PATIENCE_DAYS = 2;

/** How long a request may stay without a clear response before people are notified. */
export const UNANSWERED_NOTICE_AFTER_MS = HOUR_MS;

/**
 * True if a payment is late. A bank may delay one for weeks, and neither that nor the service's own
 * review sends an event (API specification, section 6).
 *
 * @param when.today date in New York
 */
export function isLate(
  line: { readonly state: string; readonly executionDate: string },
  when: { readonly today: string; readonly arrivalBusinessDays: number },
): boolean {
  const { state, executionDate } = line;
  if (state === "held") return when.today > executionDate;
  const days = state === "scheduled" ? 0 : when.arrivalBusinessDays;
  return when.today > addBankingDays(executionDate, days + PATIENCE_DAYS);
}
