import type { PlanLine } from "../../contracts/pay-run.ts";
import type { LineReason } from "../../contracts/reason-codes.ts";
import { formatUsd, sumCents } from "../money.ts";
import { vendorChange, type VendorNow, whyNotPayable } from "../vendor-account.ts";
import { NOTHING_OWED } from "./others-texts.ts";
import { owedCents, type PaymentAmount } from "./owed.ts";
import { isOnItsWay } from "./payment-states.ts";
import {
  mayBeFrom,
  type Unreadable,
  type UnreadablePayment,
  unreadablePaymentText,
} from "../unreadable.ts";

/** The fields of a bill that decide whether it may be paid, and how much of it. */
export interface BillToPay {
  readonly totalAmountCents: number;
  readonly amountPaidCents: number;
  /** Null if it can't be read. */
  readonly remainingAmountCents?: number | null | undefined;
  readonly status: string;
  /** What the bill itself says of its payments. */
  readonly paymentStatus: string;
  readonly contact: { readonly id: string | null };
}

/** The fields of a vendor that decide whether it may be paid. */
export interface VendorToPay extends VendorNow {
  readonly id: string;
}

/** A bill and its vendor, with all payments of the bill, which were read before it. */
export interface BillNow {
  /** Payments that may be of any bill. */
  readonly unclear?: readonly UnreadablePayment[];
  readonly payments: readonly (PaymentAmount & {
    readonly id: string;
    readonly unreadable?: Unreadable;
  })[];
  /**
   * The same payments by everything that was ever read about them; set if some were known before.
   */
  readonly stand?: readonly PaymentAmount[];
  readonly payable: BillToPay;
  readonly contact: VendorToPay;
}

/** What would be paid now differs from what was approved. */
export interface Differs {
  readonly kind: "differs";
  readonly owed: number;
  readonly reason: string;
}

/** Why an approved line is not paid. */
export type NotAsApproved =
  | Differs
  | { readonly kind: "paid-elsewhere"; readonly reason: string }
  | { readonly kind: "line-wait"; readonly code: LineReason; readonly message: string }
  /** Waits longer and longer; operators are notified once it has lasted an hour. */
  | {
      readonly kind: "back";
      readonly code: LineReason;
      readonly waitMs: null;
      readonly reason: string;
    }
  | { readonly kind: "parked"; readonly code: LineReason; readonly reason: string };

/** Says why a line may not be paid, by what the service shows now; null if it may. */
export function notAsApproved(plan: PlanLine, read: BillNow): NotAsApproved | null {
  const { payable, contact } = read;
  for (const { id, unreadable } of read.payments) {
    if (unreadable === undefined) continue;
    const reason = unreadablePaymentText(id, unreadable);
    return { kind: "parked", code: "unreadable", reason };
  }
  const accounts = [plan.funding.sourceId, plan.funding.pay.bankAccountId];
  const unclear = read.unclear?.find((payment) => mayBeFrom(payment, accounts));
  if (unclear !== undefined) {
    return { kind: "line-wait", code: "unreadable", message: unclear.text };
  }
  const owed = owedOf(read);
  if (owed === 0) {
    return {
      kind: "paid-elsewhere",
      reason: NOTHING_OWED,
    };
  }
  const contradiction = contradictionOf(Math.min(owed, plan.amountCents), read);
  if (contradiction !== null) {
    return { kind: "back", code: CONTRADICTION, waitMs: null, reason: contradiction };
  }
  if (payable.status !== "approved") return notApproved(payable.status);
  const message = whyNotPayable(contact);
  if (message !== null) return { kind: "line-wait", code: "contact_not_payable", message };
  const reason = changeOf(plan, owed, contact) ?? growth(plan, payable);
  return reason === null ? null : { kind: "differs", owed, reason };
}

function owedOf({ payable, payments, stand }: BillNow): number {
  const { totalAmountCents: totalCents, amountPaidCents } = payable;
  return owedCents({ totalCents, amountPaidCents, payments: stand ?? payments });
}

/**
 * True if a bill is paid for good, as far as its service can say: paid in full, by its own figures or
 * by its completed payments, and nothing is on its way, comes back or contradicts that. `owedCents`
 * doubts to the other side: it may be 0 for a moment while money is still owed.
 */
export function isPaidOff({ payable, payments, stand = payments }: BillNow): boolean {
  const { totalAmountCents: totalCents, amountPaidCents, remainingAmountCents } = payable;
  const completed = stand.filter(({ status }) => status === "completed");
  const paidCents = Math.max(amountPaidCents, sumCents(completed.map((each) => each.amountCents)));
  return (
    totalCents > 0 &&
    paidCents >= totalCents &&
    (remainingAmountCents ?? 0) <= 0 &&
    !stand.some(({ status }) => isOnItsWay(status))
  );
}

/** Reason code of a line whose bill and payments contradict each other. */
export const CONTRADICTION = "bill_contradicts_payments" satisfies LineReason;

/** What a bill says while nothing of it is paid or under way (API specification, section 2). */
const SAYS_UNPAID: readonly string[] = ["none", "failed", "clawback"];

/** One that can't be read says nothing; a status of tomorrow may say either. */
const UNPAID_BILL: readonly string[] = [...SAYS_UNPAID, "unreadable"];

/**
 * True if a bill alone, as a list shows it, says that it may be paid and that nothing new has paid
 * any of it; otherwise its payments have to be read.
 */
export function saysUnpaid(
  { amountCents }: Pick<PlanLine, "amountCents">,
  bill: { readonly [Field in keyof BillToPay]?: BillToPay[Field] | null | undefined },
): boolean {
  const { status, paymentStatus, totalAmountCents, amountPaidCents } = bill;
  if (typeof totalAmountCents !== "number" || typeof amountPaidCents !== "number") return false;
  const leftCents = bill.remainingAmountCents ?? totalAmountCents - amountPaidCents;
  return (
    status === "approved" &&
    SAYS_UNPAID.includes(paymentStatus ?? "") &&
    Math.min(leftCents, totalAmountCents - amountPaidCents) >= amountCents
  );
}

/**
 * Says how a bill contradicts the list of its payments; null if it doesn't. Of the two, the one
 * that speaks of more money counts. A service may be slow to change the bill after its payment.
 *
 * @param cents to be paid, by the bill's other amounts and its payments
 */
function contradictionOf(
  cents: number,
  { payable, payments, stand = payments }: BillNow,
): string | null {
  const { paymentStatus, remainingAmountCents: leftCents } = payable;
  const isShown = stand.some(
    ({ status }) => isOnItsWay(status) || (paymentStatus === "settled" && status === "completed"),
  );
  if (!UNPAID_BILL.includes(paymentStatus) && !isShown) {
    return `The bill says that its payment is ${paymentStatus}, but no payment of it is listed as such. ${WHILE_CONTRADICTED}`;
  }
  if (typeof leftCents === "number" && leftCents < cents) {
    return `The bill says that ${formatUsd(Math.max(0, leftCents))} of it is left, which its other amounts and its payments contradict. ${WHILE_CONTRADICTED}`;
  }
  return null;
}

const WHILE_CONTRADICTED = "Nothing is sent while the two contradict each other.";

/** Says that a bill has grown, which may need more than the part of it that was approved. */
function growth({ totalCents }: PlanLine, { totalAmountCents }: BillToPay): string | null {
  if (totalAmountCents <= totalCents) return null;
  return `the whole bill grew from ${formatUsd(totalCents)} to ${formatUsd(totalAmountCents)}`;
}

const REFUSED_BILLS: Readonly<Record<string, LineReason>> = {
  declined: "payable_declined",
  blocked: "payable_blocked",
  void: "payable_void",
};

function notApproved(status: string): NotAsApproved {
  if (status === "draft" || status === "pending_approval") {
    return {
      kind: "line-wait",
      code: "approval_required",
      message: `The bill's own approval was reset: its status is ${status}.`,
    };
  }
  return {
    kind: "parked",
    code: REFUSED_BILLS[status] ?? "payable_not_approved",
    reason: `The bill's status is ${status} now, so it was not paid. Nothing more to do, unless that is a mistake.`,
  };
}

/**
 * True if a line pays only a part of its bill. A part is approved as that part: more may be owed,
 * never less.
 */
export function isPartial({ flags }: PlanLine): boolean {
  return flags.some(({ kind }) => kind === "partial");
}

/** Says how what would be paid differs from what was approved; null if it doesn't. */
function changeOf(
  plan: PlanLine,
  owed: number,
  contact: Pick<VendorToPay, "id" | "bankAccount">,
): string | null {
  if (owed !== plan.amountCents && !(isPartial(plan) && owed > plan.amountCents)) {
    return `the amount owed changed from ${formatUsd(plan.amountCents)} to ${formatUsd(owed)}`;
  }
  if (contact.id !== plan.contactId) return "the bill belongs to another vendor now";
  return vendorChange(plan, contact);
}
