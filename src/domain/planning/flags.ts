import { DAY_MS } from "../../contracts/durations.ts";
import type { LineFlag } from "../../contracts/pay-run.ts";
import type { ReviewReason } from "../../contracts/playbook.ts";
import { daysBetween } from "../clock/dates.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";
import { classifyFailures } from "../payments/failure-policy.ts";
import { hasFailed } from "../payments/payment-states.ts";
import { isMendedByNewDetails } from "../payments/return-codes.ts";
import { type BillBook, billDate, type BillFacts } from "./book.ts";
import type { LineDates } from "./dates.ts";
import type { SelectedBill } from "./select.ts";

const RECENT_DAYS = 30;
const UNUSUAL_TIMES_MEDIAN = 3;
/** The service splits larger payments. */
const SPLIT_ABOVE_CENTS = 10_000_000;

export interface FlagInput {
  readonly book: BillBook;
  /** The playbook's review reasons. */
  readonly review: readonly ReviewReason[];
  readonly nowMs: number;
  /**
   * Last four digits of the account to which Payrun last paid each vendor; vendors never paid are
   * missing.
   */
  readonly lastPaidTo: ReadonlyMap<string, string | null>;
  /** Last four digits of the account to which Payrun last sent a payment of each of these bills. */
  readonly sentTo: ReadonlyMap<string, string | null>;
}

/**
 * Returns the flags of a line: the playbook's review reasons first, then what an approver should
 * know.
 */
export function flagsOf(selected: SelectedBill, dates: LineDates, input: FlagInput): LineFlag[] {
  const flags: LineFlag[] = [];
  for (const kind of input.review) {
    const text = REVIEWS[kind](selected, input);
    if (text !== null) flags.push({ kind, text });
  }
  const failed = failedBefore(selected, input);
  if (failed !== null) flags.push({ kind: "failed-before", text: failed });
  if (dates.late) {
    const text = `Arrives ${dates.arrivalDate}, after its due date ${selected.bill.dueDate ?? ""}, even if paid at once.`;
    flags.push({ kind: "late", text });
  }
  if (selected.owedCents !== undefined) {
    const text = `Pays ${formatUsd(selected.amountCents)} of ${formatUsd(selected.owedCents)} that is owed.`;
    flags.push({ kind: "partial", text });
  }
  if (selected.amountCents > SPLIT_ABOVE_CENTS) {
    const text = `The service splits amounts above ${formatUsd(SPLIT_ABOVE_CENTS)} into several payments.`;
    flags.push({ kind: "split", text });
  }
  const scheduled = input.book
    .paymentsOf(selected.bill.payableId)
    .some((payment) => payment.status === "scheduled");
  if (selected.amountCents > SPLIT_ABOVE_CENTS || scheduled) {
    const text =
      "The bill will have several scheduled payments, and the service cancels none of those: decide before paying.";
    flags.push({ kind: "not-recallable", text });
  }
  return flags;
}

type Review = (selected: SelectedBill, input: FlagInput) => string | null;

const REVIEWS: Readonly<Record<ReviewReason, Review>> = {
  "new-vendor": ({ contactId, vendor }, { book }) =>
    book.hasBeenPaid(contactId)
      ? null
      : `No payment to ${vendor.name ?? "this vendor"} has settled yet.`,

  "changed-bank-account": changedBankAccount,

  "likely-duplicate": ({ bill }, { book }) => {
    const twin = book.nearestTwin(bill);
    if (twin === null || !areClose(bill, twin)) return null;
    const when = billDate(twin);
    const on = when === null ? "" : ` of ${when}`;
    return `Same vendor and amount as bill ${twin.publicId ?? twin.payableId}${on}.`;
  },

  "unusual-amount": ({ bill, contactId, amountCents }, { book }) => {
    const median = book.medianPaidBillCents(contactId, bill.payableId);
    if (median === null || amountCents <= UNUSUAL_TIMES_MEDIAN * median) return null;
    const text = `${formatUsd(amountCents)} is more than ${UNUSUAL_TIMES_MEDIAN} times this vendor's usual ${formatUsd(median)}.`;
    return text;
  },
};

function changedBankAccount(selected: SelectedBill, input: FlagInput): string | null {
  const { vendor, contactId } = selected;
  const before = input.lastPaidTo.get(contactId);
  if (before !== undefined) {
    if (before === vendor.bankLast4) return null;
    return `The vendor's bank account ends in ${vendor.bankLast4 ?? "nothing"} now; the last payment from here went to one ending in ${before ?? "nothing"}.`;
  }
  const changedMs = vendor.updatedAt === null ? Number.NaN : Date.parse(vendor.updatedAt);
  if (!(input.nowMs - changedMs <= RECENT_DAYS * DAY_MS)) return null;
  return `The vendor's record was changed on ${newYorkDate(changedMs)}, and no payment from here has reached it, so its bank account can't be compared with an earlier one.`;
}

/**
 * Says what an approver should know about a bill whose payment failed, so that they can judge
 * whether the next would fail too. Null if none failed, or if the failure may be retried.
 */
function failedBefore(selected: SelectedBill, input: FlagInput): string | null {
  const failures = input.book
    .paymentsOf(selected.bill.payableId)
    .filter(({ status }) => hasFailed(status));
  if (failures.length === 0) return null;
  const { code, mayBeRetried, said } = classifyFailures(failures);
  if (mayBeRetried) return null;
  const { bankLast4 } = selected.vendor;
  const { payableId } = selected.bill;
  // The account that received a payment not made by Payrun is unknown, so the vendor's last one
  // counts.
  const before = input.sentTo.has(payableId)
    ? input.sentTo.get(payableId)
    : input.lastPaidTo.get(selected.contactId);
  const isSame = code !== null && isMendedByNewDetails(code) && before === bankLast4;
  const account = isSame ? ` The bank account still ends in ${bankLast4 ?? "nothing"}.` : "";
  return `A payment of this bill has failed. ${said}${account}`;
}

function areClose(bill: BillFacts, other: BillFacts): boolean {
  const [a, b] = [billDate(bill), billDate(other)];
  // Bills without a date can't be told apart by it; one review too many is the safer error.
  return a === null || b === null || Math.abs(daysBetween(a, b)) <= RECENT_DAYS;
}
