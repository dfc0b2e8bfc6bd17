import { addBankingDays } from "../clock/bank-calendar.ts";

/** Banking days after its arrival, or its day, that a payment is waited for without a word. */
const PATIENCE_DAYS = 2;

/** A request without a clear answer is looked for so long before people hear of it. */
export const UNANSWERED_TOLD_AFTER_MS = 3_600_000;

/**
 * True where a payment should have moved on by now: a bank may hold it up for weeks, and the
 * specification has no event for that, nor for a service's own review (API specification, section 6).
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
