import type { PlanLine } from "../../src/contracts/pay-run.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { owedCents } from "../../src/domain/payments/owed.ts";
import type { Contact, Payable, Payment } from "../../src/payments-api/index.ts";
import type { ActivityContext } from "../context.ts";
import { replanLine } from "../replan-line.ts";
import type { RunLine } from "../../src/store/lines.ts";
import type { PayJob, PayOutcome } from "./job.ts";

/** How long a full read of payable, payee and payments stays good enough to pay on. */
export const VERIFIED_FOR_MS = 120_000;

/** So many lines that nobody has read lately are read by page, before lanes draw them. */
export const READ_BY_PAGE_FROM = 25;

export type Verification =
  | { readonly kind: "ok"; readonly knownPaymentIds: readonly string[] }
  | { readonly kind: "stop"; readonly outcome: PayOutcome };

/**
 * Makes sure that what was approved is still what would be paid, by reading the payments, then the
 * payable, then the payee again, unless a read of the last two minutes said so.
 */
export async function verifyLine(context: ActivityContext, job: PayJob): Promise<Verification> {
  const { serviceMs } = await context.clockOf(job.business).now();
  if (isVerified(job.line, serviceMs)) {
    return { kind: "ok", knownPaymentIds: job.line.knownPaymentIds };
  }
  const client = context.clientOf(job.business);
  // Payments before the payable: a payment made in between then shows as owed too little, not too much.
  const payments = await client.payments.listAll({ payableId: job.plan.payableId });
  const payable = await client.payables.get(job.plan.payableId);
  const contact = await client.contacts.get(payable.contact.id ?? job.plan.contactId);
  return judgeLine(job, payable, contact, payments);
}

/** True where a read of the last two minutes has shown the line as it was approved. */
export function isVerified(line: Pick<RunLine, "verifiedAtMs">, serviceMs: number): boolean {
  return line.verifiedAtMs > 0 && serviceMs - line.verifiedAtMs < VERIFIED_FOR_MS;
}

/** Whether a line may be paid by what the service shows of it now. */
function judgeLine(
  job: PayJob,
  payable: Payable,
  contact: Contact,
  payments: readonly Payment[],
): Verification {
  const owed = owedCents({
    totalCents: payable.totalAmountCents,
    amountPaidCents: payable.amountPaidCents,
    payments,
  });
  if (owed === 0) {
    return stop({
      kind: "paid-elsewhere",
      reason: "Nothing is owed any more: somebody else has paid it, or is paying it now.",
    });
  }
  if (payable.status !== "approved") return stop(notApproved(payable.status));
  if (contact.status !== "active" || !contact.paymentReady) {
    return stop({
      kind: "line-wait",
      code: "contact_not_payable",
      message: `${contact.displayName ?? "The vendor"} can't be paid by ACH now: no valid bank account on file, or not active.`,
    });
  }
  const reason = changeOf(job.plan, owed, contact);
  if (reason !== null) {
    const isPart = job.plan.flags.some((flag) => flag.kind === "partial");
    const due = isPart ? Math.min(owed, job.plan.amountCents) : owed;
    const plan = replanLine(job, { payable, contact, owed: due, reason });
    return stop({ kind: "changed", plan, reason });
  }
  return { kind: "ok", knownPaymentIds: payments.map((payment) => payment.id) };
}

function notApproved(status: string): PayOutcome {
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

/** How what would be paid differs from what was approved, or null. */
export function changeOf(
  plan: PlanLine,
  owed: number,
  contact: Pick<Contact, "id" | "bankAccount" | "updatedAt">,
): string | null {
  // A part of a bill is approved as that part: more may be owed, never less.
  const isPart = plan.flags.some((flag) => flag.kind === "partial");
  if (owed !== plan.amountCents && !(isPart && owed > plan.amountCents)) {
    return `the amount owed changed from ${formatUsd(plan.amountCents)} to ${formatUsd(owed)}`;
  }
  if (contact.id !== plan.contactId) return "the bill belongs to another vendor now";
  if ((contact.bankAccount?.last4 ?? null) !== plan.bankLast4) {
    return `the vendor's bank account changed from ••${plan.bankLast4 ?? "none"} to ••${contact.bankAccount?.last4 ?? "none"}`;
  }
  if (!isSameInstant(contact.updatedAt, plan.contactUpdatedAt)) {
    return "the vendor's record was changed";
  }
  return null;
}

/** A list and a record may write one instant in two ways (ISO 8601), and nothing has changed. */
function isSameInstant(one: string | null, other: string | null): boolean {
  if (one === other || one === null || other === null) return one === other;
  const [oneMs, otherMs] = [Date.parse(one), Date.parse(other)];
  return !Number.isNaN(oneMs) && oneMs === otherMs;
}

function stop(outcome: PayOutcome): Verification {
  return { kind: "stop", outcome };
}
