import { counted } from "../counted.ts";

/** What keeps bills out of a plan, in words that follow their number. */
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

/** Counts the bills that a plan leaves out by reason, the most frequent reason first. */
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
 * Says in a sentence why a plan has no bill. It names bills on hold, because they are still to be
 * paid, and this run never pays them.
 */
export function emptyPlanText(byCode: Readonly<Record<string, number>>): string {
  const held = byCode["on-hold"] ?? 0;
  if (held === 0) return "There is nothing to pay.";
  const are = held === 1 ? "is" : "are";
  return `Nothing is paid: ${counted(held, "bill")} ${are} on hold (payrun holds). This run has ended and pays nothing after a release: payrun pay BILL does, or the next period's run.`;
}

/** Lists the counts in words: `12 paid already, 3 not due yet`. */
export function leftOutText(byCode: Readonly<Record<string, number>>): string {
  return leftOutCounts(byCode)
    .map(({ count, reason }) => `${count.toLocaleString("en-US")} ${reason}`)
    .join(", ");
}
