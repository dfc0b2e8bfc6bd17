import type { PlanLine } from "../../contracts/pay-run.ts";
import { formatUsd } from "../money.ts";
import { vendorChange, type VendorNow, whyNotPayable } from "../vendor-account.ts";
import { NOTHING_OWED } from "./others-texts.ts";
import { owedCents, type PaymentAmount } from "./owed.ts";

/** The fields of a bill that decide whether it may be paid, and how much of it. */
export interface BillFacts {
  readonly totalAmountCents: number;
  readonly amountPaidCents: number;
  readonly status: string;
  readonly contact: { readonly id: string | null };
}

/** The fields of a vendor that decide whether it may be paid. */
export interface VendorFacts extends VendorNow {
  readonly id: string;
}

/** A bill and its vendor, with all payments of the bill, which were read before it. */
export interface BillNow {
  readonly payments: readonly PaymentAmount[];
  /**
   * The same payments by everything that was ever read about them; set if some were known before.
   */
  readonly stand?: readonly PaymentAmount[];
  readonly payable: BillFacts;
  readonly contact: VendorFacts;
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
  | { readonly kind: "line-wait"; readonly code: string; readonly message: string }
  | { readonly kind: "parked"; readonly code: string; readonly reason: string };

/** Says why a line may not be paid, by what the service shows now; null if it may. */
export function notAsApproved(plan: PlanLine, read: BillNow): NotAsApproved | null {
  const { payable, contact } = read;
  const owed = owedOf(read);
  if (owed === 0) {
    return {
      kind: "paid-elsewhere",
      reason: NOTHING_OWED,
    };
  }
  if (payable.status !== "approved") return notApproved(payable.status);
  const message = whyNotPayable(contact);
  if (message !== null) return { kind: "line-wait", code: "contact_not_payable", message };
  const reason = changeOf(plan, owed, contact);
  return reason === null ? null : { kind: "differs", owed, reason };
}

function owedOf({ payable, payments, stand }: BillNow): number {
  const { totalAmountCents: totalCents, amountPaidCents } = payable;
  return owedCents({ totalCents, amountPaidCents, payments: stand ?? payments });
}

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
    code: `payable-${status}`,
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
export function changeOf(
  plan: PlanLine,
  owed: number,
  contact: Pick<VendorFacts, "id" | "bankAccount" | "updatedAt">,
): string | null {
  if (owed !== plan.amountCents && !(isPartial(plan) && owed > plan.amountCents)) {
    return `the amount owed changed from ${formatUsd(plan.amountCents)} to ${formatUsd(owed)}`;
  }
  if (contact.id !== plan.contactId) return "the bill belongs to another vendor now";
  return vendorChange(plan, contact);
}
