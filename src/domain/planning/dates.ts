import { DAY_MS } from "../../contracts/durations.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { addBankingDays, bankingDayOnOrBefore, nextBankingDay } from "../clock/bank-calendar.ts";
import { newYorkInstantMs } from "../clock/new-york.ts";

export interface LineDates {
  readonly executionDate: string;
  readonly arrivalDate: string;
  /** True if it arrives after its due date even when approved now. */
  readonly late: boolean;
  /** ISO instant from which an approval moves the dates. */
  readonly decideBy: string;
  /** Part of the line's hash: what an approval covers of the dates. */
  readonly dateRule: string;
}

/**
 * Plans when to pay a bill: on the latest day that still arrives by its due date, or on the next
 * banking day if it would be late or has no due date.
 *
 * A payment is scheduled for tomorrow at the earliest (API specification, section 8), so the
 * deadline for a decision is midnight in New York before the execution date.
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

/** Returns the ISO instant from which a bill can no longer be paid on this execution date. */
export function decideByOf(executionDate: string): string {
  return new Date(newYorkInstantMs(executionDate, "00:00")).toISOString();
}

/** `late: ask` binds an approval to the date; with `next-business-day` the date may move. */
function dateRuleOf(executionDate: string, playbook: Pick<PayRunPlaybook, "pay" | "late">): string {
  if (playbook.late === "ask") return `on ${executionDate}`;
  return playbook.pay.on === "arrives-by-due-date"
    ? "by due date or next business day"
    : "next business day";
}

/**
 * Returns when a line arrives that executes on another day than planned: after as many banking days
 * as planned.
 */
export function arrivalOn(
  executionDate: string,
  planned: Pick<LineDates, "executionDate" | "arrivalDate">,
): string {
  let days = 0;
  for (let day = planned.executionDate; day < planned.arrivalDate; day = nextBankingDay(day)) {
    days += 1;
  }
  return addBankingDays(executionDate, days);
}

/**
 * Returns the business-clock instant at which a run was planned; null if its time to approve has
 * never begun.
 */
export function plannedMs({
  approveByMs,
  policy,
}: {
  readonly approveByMs: number | null;
  readonly policy: Pick<PayRunPlaybook, "approvalValidDays">;
}): number | null {
  return approveByMs === null ? null : approveByMs - policy.approvalValidDays * DAY_MS;
}
