import type { LeftOutCode } from "../../contracts/reason-codes.ts";
import type { SkippedLine } from "../../contracts/pay-run.ts";
import { counted } from "../counted.ts";

/** Code of a bill that is left out because a field of it, or of its vendor, can't be read. */
export const UNREADABLE_BILL = "unreadable";

/** What keeps bills out of a plan, in words that follow their number. */
const REASONS: Readonly<Record<string, string>> = {
  paid: "paid already",
  already_on_its_way: "on the way already",
  not_due: "not due yet",
  no_due_date: "without a due date",
  not_approved: "not approved in the service",
  declined: "declined in the service",
  blocked: "blocked in the service",
  void: "void in the service",
  where_not_met: "outside the playbook's “where”",
  condition_failed: "that a condition can't be judged for",
  no_vendor: "without a vendor",
  vendor_not_payable: "whose vendor can't be paid",
  on_hold: "on hold",
  claimed: "in the hands of another run or retry",
  [UNREADABLE_BILL]: "that can't be read",
  more_than_owed: "that owe less than was asked for",
  unknown_bill: "unknown to the service",
} satisfies Readonly<Record<LeftOutCode, string>>;

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
      reason: REASONS[code] ?? code.replaceAll("_", " "),
      count,
    }));
}

/** Says what follows from a run that ended without a single bill. */
export const NOT_USED_UP =
  "It has no bill, so it doesn't count: a launch of the same period plans it again.";

/**
 * Says in a sentence why a plan has no bill. It names bills on hold, because they are still to be
 * paid, and this run never pays them.
 */
export function emptyPlanText(byCode: Readonly<Record<string, number>>): string {
  const held = byCode["on_hold"] ?? 0;
  if (held === 0) return "There is nothing to pay.";
  const are = held === 1 ? "is" : "are";
  return `Nothing is paid: ${counted(held, "bill")} ${are} on hold (payrun holds). This run has ended and pays nothing after a release: payrun pay BILL does, or a new launch of the period.`;
}

/** Lists the counts in words: `12 paid already, 3 not due yet`. */
export function leftOutText(byCode: Readonly<Record<string, number>>): string {
  return leftOutCounts(byCode)
    .map(({ count, reason }) => `${count.toLocaleString("en-US")} ${reason}`)
    .join(", ");
}

/** Bills that a warning names; `show` and the console have them all. */
const NAMED_MOST = 20;

/** Names the bills that are left out because they can't be read; null if there are none. */
export function unreadableWarning(skipped: readonly SkippedLine[]): string | null {
  const bills = skipped.filter(({ code }) => code === UNREADABLE_BILL);
  if (bills.length === 0) return null;
  const named = bills.slice(0, NAMED_MOST).map((bill) => {
    const vendor = bill.contactName === null ? "" : `${bill.contactName} `;
    return `${vendor}${bill.publicId ?? bill.payableId}: ${bill.text}`;
  });
  const more = bills.length - named.length;
  const rest = more === 0 ? [] : [`And ${counted(more, "other bill")}.`];
  const are = bills.length === 1 ? "is" : "are";
  return [`${counted(bills.length, "bill")} ${are} left out.`, ...named, ...rest].join(" ");
}
