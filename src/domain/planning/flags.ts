import { DAY_MS } from "../../contracts/durations.ts";
import type { LineFlag } from "../../contracts/pay-run.ts";
import { ALWAYS_FLAGGED, type ReviewReason } from "../../contracts/playbook.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";
import { classifyFailures } from "../payments/failure-policy.ts";
import { hasFailed } from "../payments/payment-states.ts";
import { isMendedByNewDetails } from "../payments/return-codes.ts";
import type { BillBook, VendorFacts } from "./book.ts";
import { unreadableText } from "../unreadable.ts";
import { differing, isChanged } from "../vendor-account.ts";
import type { LineDates } from "./dates.ts";
import { type DecidedBefore, refusedText } from "./decided-before.ts";
import { grownText, type LastSentLine } from "./grown.ts";
import { wholeCents } from "./limits.ts";
import { type KnownAccount, type Proof, provesAccount } from "./known-accounts.ts";
import type { SelectedBill } from "./select.ts";
import { type TwinsOf, twinsFlag } from "./twins.ts";
import type { UsualCents } from "./usual-amounts.ts";

const RECENT_DAYS = 30;
const UNUSUAL_TIMES_MEDIAN = 3;
const SILENT_DAYS = 365;
/** The service splits larger payments. */
const SPLIT_ABOVE_CENTS = 10_000_000;

export interface FlagInput {
  readonly book: BillBook;
  /** The playbook's review reasons. */
  readonly review: readonly ReviewReason[];
  readonly nowMs: number;
  /**
   * The account that a run's payment to each vendor proved last; missing for vendors without one.
   */
  readonly known: ReadonlyMap<string, KnownAccount>;
  readonly proofOf: (vendor: VendorFacts) => Proof;
  readonly usualCents: UsualCents;
  /** The lines by which Payrun last sent a payment; missing for bills without one. */
  readonly sent: ReadonlyMap<string, LastSentLine>;
  readonly twins: TwinsOf;
  /** What `findSplits` has found. */
  readonly splits: ReadonlyMap<string, string>;
  /** What was decided about the selected bills and their twins. */
  readonly before: DecidedBefore;
}

/**
 * Returns the flags of a line: the playbook's review reasons first, then what an approver should
 * know.
 */
export function flagsOf(selected: SelectedBill, dates: LineDates, input: FlagInput): LineFlag[] {
  const flags: LineFlag[] = [];
  for (const kind of new Set([...input.review, ALWAYS_FLAGGED])) {
    const said = REVIEWS[kind](selected, input);
    if (said !== null) flags.push({ kind, ...(typeof said === "string" ? { text: said } : said) });
  }
  const refused = refusedText(input.before.get(selected.bill.payableId));
  if (refused !== null) flags.push({ kind: "rejected-before", text: refused });
  const { unreadable } = selected.bill;
  if (unreadable !== undefined) {
    const text = `It is paid all the same, although ${unreadableText(unreadable)}.`;
    flags.push({ kind: "unreadable", text });
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

type Review = (selected: SelectedBill, input: FlagInput) => string | Omit<LineFlag, "kind"> | null;

const REVIEWS: Readonly<Record<ReviewReason, Review>> = {
  "new-vendor": ({ contactId, vendor }, { book, proofOf }) => {
    if (proofOf(vendor).ofAny) return null;
    const name = vendor.name ?? "this vendor";
    return book.settledTo(contactId).length === 0
      ? `No payment to a bank account of ${name} has settled yet.`
      : `The first payment to ${name} settled less than two banking days ago, so it may still come back.`;
  },

  "changed-bank-account": changedBankAccount,

  "changed-record": ({ vendor, contactId }, { known, proofOf }) => {
    const before = known.get(contactId);
    if (before === undefined || before.bankLast4 !== vendor.bankLast4) return null;
    if (!isChanged(before.record, vendor.record)) return null;
    if (proofOf(vendor).ofPresent) return null;
    return `The vendor's record was changed since the last settled payment to it: ${differing(before.record, vendor.record)}. The bank account still ends in ${vendor.bankLast4 ?? "nothing"}.`;
  },

  "likely-duplicate": ({ bill }, input) => {
    const { payableId } = bill;
    const grown = grownText(bill, input.book.paymentsOf(payableId), input.sent.get(payableId));
    const twins = twinsFlag(bill, input);
    if (grown === null) return twins;
    return { ...twins, text: [grown, ...(twins === null ? [] : [twins.text])].join(" ") };
  },

  "first-payment-after-silence": ({ contactId, vendor }, { book, nowMs }) => {
    const proves = provesAccount(nowMs);
    const settled = book
      .settledTo(contactId)
      .filter((payment) => payment.settledMs === null || proves(payment));
    if (settled.length === 0) return null;
    const lastMs = settled.reduce(
      (last, { settledMs }) => Math.max(last, settledMs ?? -Infinity),
      -Infinity,
    );
    if (nowMs - lastMs < SILENT_DAYS * DAY_MS) return null;
    const name = vendor.name ?? "this vendor";
    return lastMs === -Infinity
      ? `The service doesn't say when it last paid ${name}.`
      : `The last payment to ${name} settled on ${newYorkDate(lastMs)}, a year ago or longer.`;
  },

  "split-below-limit": ({ bill }, { splits }) => splits.get(bill.payableId) ?? null,

  // The usual amounts are those of whole bills.
  "unusual-amount": ({ bill, contactId, amountCents }, { usualCents }) => {
    const median = usualCents(contactId, bill.payableId);
    const cents = wholeCents({ amountCents, totalCents: bill.totalCents });
    if (median === null || cents <= UNUSUAL_TIMES_MEDIAN * median) return null;
    const text = `${formatUsd(cents)} is more than ${UNUSUAL_TIMES_MEDIAN} times this vendor's usual ${formatUsd(median)}.`;
    return text;
  },
};

function changedBankAccount(selected: SelectedBill, input: FlagInput): string | null {
  const { vendor, contactId } = selected;
  const { updatedAt } = vendor.record;
  const before = input.known.get(contactId);
  if (before?.bankLast4 === vendor.bankLast4) return null;
  const mayBeProven = before === undefined || isChanged(before.record, vendor.record);
  if (mayBeProven && input.proofOf(vendor).ofPresent) return null;
  if (before !== undefined) {
    return `The vendor's bank account ends in ${vendor.bankLast4 ?? "nothing"} now; the last payment from here that settled went to one ending in ${before.bankLast4 ?? "nothing"}.`;
  }
  const changedMs = updatedAt === null ? Number.NaN : Date.parse(updatedAt);
  if (!(input.nowMs - changedMs <= RECENT_DAYS * DAY_MS)) return null;
  return `The vendor's record was changed on ${newYorkDate(changedMs)}, and no payment made since then settled two banking days ago, so its bank account can't be compared with an earlier one.`;
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
  const before = (input.sent.get(payableId) ?? input.known.get(selected.contactId))?.bankLast4;
  const isSame = code !== null && isMendedByNewDetails(code) && before === bankLast4;
  const account = isSame ? ` The bank account still ends in ${bankLast4 ?? "nothing"}.` : "";
  return `A payment of this bill has failed. ${said}${account}`;
}
