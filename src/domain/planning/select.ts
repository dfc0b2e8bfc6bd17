import type { LeftOutCode } from "../../contracts/reason-codes.ts";
import type { SkippedLine } from "../../contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { isOfKind } from "../../contracts/workflow-kinds.ts";
import { addDays } from "../clock/dates.ts";
import { beforeNextRun } from "../clock/schedule-period.ts";
import { holdOn, type HoldScope } from "../holds.ts";
import { formatUsd } from "../money.ts";
import type { OffCycle } from "../off-cycle.ts";
import { onceEach } from "../once-each.ts";
import { onItsWayCents, owedCents } from "../payments/owed.ts";
import type { Steps } from "../steps.ts";
import { mayBeFrom, unreadableText } from "../unreadable.ts";
import type { BillBook, BillFacts, VendorFacts } from "./book.ts";
import { conditionView, type Matches } from "./condition-view.ts";
import { UNREADABLE_BILL } from "./left-out.ts";

/** A bill to pay, and how much of it. */
export interface SelectedBill {
  readonly bill: BillFacts;
  readonly vendor: VendorFacts;
  readonly contactId: string;
  readonly amountCents: number;
  /** All that is owed; set if less is paid. */
  readonly owedCents?: number;
}

export interface SelectInput {
  readonly book: BillBook;
  readonly playbook: PayRunPlaybook;
  /** `YYYY-MM-DD`, the date of the nominal fire time. */
  readonly period: string;
  readonly runId: string;
  readonly sourceId: string;
  /** The bank account that payments from the source name; null if they name none. */
  readonly accountId: string | null;
  readonly holds: readonly HoldScope[];
  readonly matches: Matches;
  /** The only bills to select, due or not; if missing, the playbook's selection applies. */
  readonly only?: OffCycle | null;
}

export interface Selection {
  readonly selected: readonly SelectedBill[];
  readonly skipped: readonly SkippedLine[];
}

interface Reason {
  readonly code: LeftOutCode;
  readonly text: string;
}

/**
 * Splits a business's bills into those that a run would pay and those that it leaves out, each with
 * the first reason. It ignores claims: they are taken afterwards.
 */
export function* selectBills(input: SelectInput): Steps<Selection> {
  const { only = null } = input;
  const due = only === null ? dueTest(input.playbook, input.period) : () => null;
  const asked = only === null ? null : new Set(only.payableIds);
  const holds = holdIndex(input.holds);
  const selected: SelectedBill[] = [];
  const skipped: SkippedLine[] = [];
  for (const bill of input.book.bills) {
    if (asked !== null && !asked.delete(bill.payableId)) continue;
    const outcome = judgeBill(bill, input, due, holds);
    if ("code" in outcome) skipped.push(skippedLine(bill, outcome));
    else selected.push(outcome);
    yield;
  }
  for (const payableId of asked ?? []) skipped.push(unknownBill(payableId));
  return { selected, skipped };
}

/** Leaves out a selected bill that another run or retry has claimed before. */
export function claimedElsewhere(selected: SelectedBill, owner: string): SkippedLine {
  const by = owner === "" ? "another run or retry" : owner;
  const text = isOfKind(owner, "retryFailedPayment")
    ? "A payment of it failed, and its retry has it."
    : `Already claimed by ${by}.`;
  return leftOut(selected, { code: "claimed", text });
}

/**
 * Leaves out a selected bill for which an approval rule's condition can't be evaluated, so that no
 * approver can be determined.
 */
export function conditionFailed(selected: SelectedBill, text: string): SkippedLine {
  return leftOut(selected, { code: "condition_failed", text });
}

function leftOut(selected: SelectedBill, reason: Reason): SkippedLine {
  return { ...skippedLine(selected.bill, reason), amountCents: selected.amountCents };
}

/**
 * False for a bill that no run can pay, whatever is paid or known besides. Conditions are not asked
 * about it, so the rest of its texts need not be kept.
 */
export function mayBePaid(bill: BillFacts): boolean {
  return statusReason(bill.status) === null && bill.totalCents > bill.amountPaidCents;
}

function judgeBill(
  bill: BillFacts,
  input: SelectInput,
  due: (bill: BillFacts) => Reason | null,
  holds: HoldIndex,
): SelectedBill | Reason {
  const { dueDate: unreadableDay, ...unreadable } = bill.unreadable ?? {};
  if (unreadable["status"] === undefined) {
    const status = statusReason(bill.status);
    if (status !== null) return status;
  }
  if (Object.keys(unreadable).length > 0) return unreadableReason(unreadableText(unreadable));
  const payments = input.book.paymentsOf(bill.payableId);
  const owed = owedCents({ ...bill, payments });
  if (owed === 0) return nothingOwed(onItsWayCents(payments));
  const doubt = payments.find((payment) => payment.unreadable)?.unreadable ?? ofAccount(input);
  if (doubt !== undefined) return { code: UNREADABLE_BILL, text: doubt.text };
  if (unreadableDay !== undefined && needsDueDate(input)) {
    return unreadableReason(unreadableText({ dueDate: unreadableDay }));
  }
  const amountCents = input.only?.amountCents ?? owed;
  if (amountCents > owed) {
    const text = `${formatUsd(amountCents)} was asked for, ${formatUsd(owed)} is owed.`;
    return { code: "more_than_owed", text };
  }
  const vendor = bill.contactId === null ? undefined : input.book.vendors.get(bill.contactId);
  const { where } = input.playbook;
  const answer = where === null || input.matches(where, conditionView(bill, vendor, owed, []));
  if (answer === false) {
    return { code: "where_not_met", text: "The playbook's “where” condition leaves it out." };
  }
  if (answer !== true) return { code: "condition_failed", text: answer.failed };
  const notDue = due(bill);
  if (notDue !== null) return notDue;
  const contactId = bill.contactId;
  if (contactId === null) {
    return { code: "no_vendor", text: "The bill has no vendor; link one in the service." };
  }
  const hold = holds.find({
    payableId: bill.payableId,
    contactId,
    sourceId: input.sourceId,
    runId: input.runId,
    playbook: input.playbook.name,
  });
  if (hold !== undefined) return { code: "on_hold", text: `On hold: ${hold.reason}` };
  const unpayable = vendorReason(vendor);
  if (unpayable !== null || vendor === undefined) return unpayable ?? unknownVendor();
  const part = amountCents < owed ? { owedCents: owed } : {};
  return { bill, vendor, contactId, amountCents, ...part };
}

function unreadableReason(what: string): Reason {
  const text = `${what.charAt(0).toUpperCase()}${what.slice(1)}. Have it corrected in the service.`;
  return { code: UNREADABLE_BILL, text };
}

/** Returns a payment that can't be read and may pay any bill from the account that pays now. */
function ofAccount({ book, sourceId, accountId }: SelectInput) {
  return book.unnamed.find((payment) => mayBeFrom(payment, [sourceId, accountId]));
}

/** True if the due date decides whether, or on which day, a bill is paid. */
function needsDueDate({ playbook: { select, pay }, only = null }: SelectInput): boolean {
  return pay.on === "arrives-by-due-date" || (only === null && select.due !== "all");
}

function unknownBill(payableId: string): SkippedLine {
  return {
    payableId,
    publicId: null,
    contactId: null,
    contactName: null,
    amountCents: 0,
    dueDate: null,
    code: "unknown_bill",
    text: "The service lists no bill with this id for the business.",
  };
}

function statusReason(status: string): Reason | null {
  switch (status) {
    case "approved":
      return null;
    case "draft":
      return { code: "not_approved", text: "Still a draft in the service." };
    case "pending_approval":
      return { code: "not_approved", text: "The bill itself waits for approval in the service." };
    case "declined":
    case "blocked":
    case "void":
      return { code: status, text: `The bill's status in the service is ${status}.` };
    default:
      return { code: "not_approved", text: `The bill's status in the service is ${status}.` };
  }
}

function nothingOwed(movingCents: number): Reason {
  if (movingCents === 0) return { code: "paid", text: "Nothing is owed on it any more." };
  return {
    code: "already_on_its_way",
    text: `Payments of ${formatUsd(movingCents)} are on their way; nothing else is owed.`,
  };
}

function vendorReason(vendor: VendorFacts | undefined): Reason | null {
  if (vendor === undefined) return unknownVendor();
  const name = vendor.name ?? "The vendor";
  if (vendor.unreadable !== undefined) {
    const text = `${name}: ${unreadableText(vendor.unreadable)}. Have it corrected in the service.`;
    return { code: UNREADABLE_BILL, text };
  }
  if (vendor.status !== "active") {
    return { code: "vendor_not_payable", text: `${name} is ${vendor.status} in the service.` };
  }
  if (!vendor.paymentReady) {
    const text = `${name} has no valid bank account on file; enter one in the service.`;
    return { code: "vendor_not_payable", text };
  }
  return null;
}

function unknownVendor(): Reason {
  return {
    code: "vendor_not_payable",
    text: "The service does not list the bill's vendor; its access may have been revoked.",
  };
}

function dueTest(playbook: PayRunPlaybook, period: string): (bill: BillFacts) => Reason | null {
  const { select, schedule, pay } = playbook;
  if (select.due === "all") return () => null;
  const limit =
    select.due === "within"
      ? addDays(period, select.days + 1)
      : beforeNextRun(schedule, period, pay.arrivalBusinessDays);
  const lastIn = addDays(limit, -1);
  // One text for each day: a list may have a million bills that are not due.
  const reasonOf = onceEach((dueDate): Reason => {
    return { code: "not_due", text: `Due ${dueDate}; this run takes bills due up to ${lastIn}.` };
  });
  return ({ dueDate }) => {
    if (dueDate === null) {
      return { code: "no_due_date", text: "The bill has no due date; “due: all” would select it." };
    }
    return dueDate < limit ? null : reasonOf(dueDate);
  };
}

/**
 * Holds, indexed by payable: those on single payables accumulate over the years, the others are
 * few.
 */
interface HoldIndex {
  find(facts: Parameters<typeof holdOn>[1]): HoldScope | undefined;
}

function holdIndex(holds: readonly HoldScope[]): HoldIndex {
  const general = holds.filter((hold) => hold.scope !== "payable");
  const byPayable = new Map(
    holds.filter((hold) => hold.scope === "payable").map((hold) => [hold.value, hold]),
  );
  return { find: (facts) => byPayable.get(facts.payableId) ?? holdOn(general, facts) };
}

function skippedLine(bill: BillFacts, reason: Reason): SkippedLine {
  return {
    payableId: bill.payableId,
    publicId: bill.publicId,
    contactId: bill.contactId,
    contactName: bill.contactName,
    amountCents: bill.totalCents,
    dueDate: bill.dueDate,
    code: reason.code,
    text: reason.text,
  };
}
