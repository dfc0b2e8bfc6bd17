import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { addBankingDays, bankingDayOnOrBefore, nextBankingDay } from "../clock/bank-calendar.ts";
import { newYorkInstantMs } from "../clock/new-york.ts";

export interface LineDates {
  readonly executionDate: string;
  readonly arrivalDate: string;
  /** True where it arrives after its due date, however soon it is approved. */
  readonly late: boolean;
  /** ISO instant from which on approving moves the dates. */
  readonly decideBy: string;
  /** Part of the line's hash: what an approval says about dates. */
  readonly dateRule: string;
}

/**
 * When a bill is paid: by its due date on the latest day that still arrives in time, else, and
 * where it would be late anyway, on the next banking day.
 *
 * A payment is scheduled for tomorrow at the earliest (API specification, section 8), so midnight
 * in New York before the execution date is the last moment to decide.
 *
 * @param today date in New York
 */
export function planDates(
  dueDate: string | null,
  today: string,
  playbook: Pick<PayRunPlaybook, "pay" | "late">,
): LineDates {
  const { pay } = playbook;
  const earliest = nextBankingDay(today);
  const inTime =
    pay.on === "arrives-by-due-date" && dueDate !== null
      ? addBankingDays(bankingDayOnOrBefore(dueDate), -pay.arrivalBusinessDays)
      : earliest;
  const executionDate = inTime > earliest ? inTime : earliest;
  const arrivalDate = addBankingDays(executionDate, pay.arrivalBusinessDays);
  return {
    executionDate,
    arrivalDate,
    late: dueDate !== null && arrivalDate > dueDate,
    decideBy: decideByOf(executionDate),
    dateRule: dateRuleOf(executionDate, playbook),
  };
}

/** ISO instant from which on a bill of this execution date can only be paid on a later one. */
export function decideByOf(executionDate: string): string {
  return new Date(newYorkInstantMs(executionDate, "00:00")).toISOString();
}

/** `late: ask` binds an approval to the date; `next-business-day` lets the date move without asking. */
function dateRuleOf(executionDate: string, playbook: Pick<PayRunPlaybook, "pay" | "late">): string {
  if (playbook.late === "ask") return `on ${executionDate}`;
  return playbook.pay.on === "arrives-by-due-date"
    ? "by due date or next business day"
    : "next business day";
}
