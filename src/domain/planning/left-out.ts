import { counted } from "../counted.ts";

/** What keeps bills out of a plan, as it is said after their number. */
const REASONS: Readonly<Record<string, string>> = {
  paid: "paid already",
  "already-on-its-way": "on the way already",
  "not-due": "not due yet",
  "no-due-date": "without a due date",
  "not-approved": "not approved in the service",
  declined: "declined in the service",
  blocked: "blocked in the service",
  void: "void in the service",
  "where-not-met": "outside the playbook's “where”",
  "condition-failed": "that a condition can't be judged for",
  "no-vendor": "without a vendor",
  "vendor-not-payable": "whose vendor can't be paid",
  "on-hold": "on hold",
  claimed: "in the hands of another run or retry",
  "more-than-owed": "that owe less than was asked for",
  "unknown-bill": "unknown to the service",
};

export interface LeftOutCount {
  readonly code: string;
  readonly reason: string;
  readonly count: number;
}

/** How many bills a plan leaves out for which reason, most first. */
export function leftOutCounts(byCode: Readonly<Record<string, number>>): LeftOutCount[] {
  return Object.entries(byCode)
    .toSorted(([, one], [, other]) => other - one)
    .map(([code, count]) => ({
      code,
      reason: REASONS[code] ?? code.replaceAll("-", " "),
      count,
    }));
}

/**
 * Why a plan has no bill, as a sentence: what holds keep back is to be paid, and this run never
 * pays it.
 */
export function emptyPlanText(byCode: Readonly<Record<string, number>>): string {
  const held = byCode["on-hold"] ?? 0;
  if (held === 0) return "There is nothing to pay.";
  const are = held === 1 ? "is" : "are";
  return `Nothing is paid: ${counted(held, "bill")} ${are} on hold (payrun holds). This run has ended and pays nothing after a release: payrun pay BILL does, or the next period's run.`;
}

/** `12 paid already, 3 not due yet`. */
export function leftOutText(byCode: Readonly<Record<string, number>>): string {
  return leftOutCounts(byCode)
    .map(({ count, reason }) => `${count.toLocaleString("en-US")} ${reason}`)
    .join(", ");
}
