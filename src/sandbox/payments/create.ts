import { requireAvailable, requireOpenBalance } from "../balance/balance.ts";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound, stateRefusal } from "../http/api-error.ts";
import { newId } from "../ids.ts";
import { callersBusiness, type BusinessRow, isReadyToPay } from "../resources/businesses.ts";
import { contactById, contactOf, type ContactRow, isPayable } from "../resources/contacts.ts";
import { insertPayable, payableOf, type PayableRow } from "../resources/payables.ts";
import { newYorkDay, newYorkInstant } from "./banking-days.ts";
import { chooseSource, type PaymentSource, type SourceRequest } from "./funding.ts";
import { magicParts } from "./magic.ts";
import {
  inFlightCents,
  insertPayment,
  paymentJson,
  type PaymentRow,
  paymentsOfPayable,
  refreshPaymentStatus,
} from "./payment-rows.ts";

/** A payment above this amount is split into several: $100,000.00. */
const largestPaymentCents = 10_000_000;
/** How long a payment stays `pending` before it is submitted, on the bank clock. */
const submitAfterMs = 2_000;

/** The body of `POST /v1/payments`, section 4. */
export interface PaymentRequest extends SourceRequest {
  payableId?: string | undefined;
  contactId?: string | undefined;
  amountCents?: number | undefined;
  description?: string | undefined;
  customNumber?: string | undefined;
  categoryId?: string | undefined;
  clearing?: "STANDARD" | "NEXT_AVAILABLE" | undefined;
  scheduledAt?: string | undefined;
}

/** The answer of `POST /v1/payments` and `retry-payment`. */
export interface PaymentsCreated {
  payableId: string;
  payments: Record<string, unknown>[];
}

/**
 * Creates the payments of a request: one, or several if a large amount is split.
 *
 * @param limit the most splits that are made, for a fault that leaves a part undone.
 * @throws {ApiError} whatever sections 4 and 7 refuse.
 */
export function createPayments(
  ctx: SandboxContext,
  businessId: string,
  request: PaymentRequest,
  limit = Number.POSITIVE_INFINITY,
): PaymentsCreated {
  const business = callersBusiness(ctx.db, businessId);
  const nowMs = ctx.clock.bankNow();
  const scheduledAtMs = scheduledInstant(request.scheduledAt, nowMs);
  const target = targetOf(ctx, business, request);
  checkBusiness(business);
  const amountCents = amountOf(ctx, business, target, request.amountCents);
  if (!isPayable(target.contact)) {
    throw stateRefusal("contact_not_payable", `${nameOf(target.contact)} cannot be paid now`, {
      contactId: target.contact.id,
    });
  }
  const source = chooseSource(ctx.db, business, request);
  if (request.clearing === "NEXT_AVAILABLE" && business.accelerated_feature === 0) {
    throw stateRefusal(
      "feature_unavailable",
      "Accelerated clearing is not enabled for this business",
    );
  }
  if (source.payment_rail === "SERVICE") {
    requireOpenBalance(business);
    if (scheduledAtMs === undefined) requireAvailable(ctx.db, business, amountCents);
  }
  const payableId = target.payable?.id ?? generatePayable(ctx, business, request, amountCents);
  return insertPayments(ctx, {
    businessId,
    payableId,
    contactId: target.contact.id,
    source,
    clearing: request.clearing ?? "STANDARD",
    amounts: split(amountCents, magicParts(ctx.db, target.contact.id)).slice(0, limit),
    scheduledAtMs,
    nowMs,
  });
}

/**
 * Pays the last failed or returned payment of a bill again, from the same source.
 *
 * @throws {ApiError} `validation_error` if none has failed, and whatever a payment is refused for.
 */
export function retryPayment(
  ctx: SandboxContext,
  businessId: string,
  payableId: string,
): PaymentsCreated {
  const business = callersBusiness(ctx.db, businessId);
  const payable = payableOf(ctx.db, businessId, payableId);
  if (payable === undefined) throw objectNotFound("Payable");
  const payments = paymentsOfPayable(ctx.db, payableId);
  const last = payments.findLast(
    (payment) => payment.status === "failed" || payment.status === "returned",
  );
  if (last === undefined || last.payment_rail === null) {
    throw invalid("payableId", "This bill has no failed payment to retry");
  }
  return createPayments(ctx, business.id, {
    payableId,
    amountCents: last.amount_cents,
    clearing: last.clearing,
    paymentRail: last.payment_rail,
    ...(last.bank_account_id === null
      ? { fundingSource: "balance" }
      : { bankAccountId: last.bank_account_id, achAuthorizationAccepted: true }),
  });
}

function scheduledInstant(date: string | undefined, nowMs: number): number | undefined {
  if (date === undefined) return undefined;
  const today = newYorkDay(nowMs);
  if (date <= today) {
    throw invalid("scheduledAt", `scheduledAt must be after today, ${today} in New York`);
  }
  return newYorkInstant(date, "09:00");
}

interface Target {
  payable: PayableRow | undefined;
  contact: ContactRow;
}

function targetOf(ctx: SandboxContext, business: BusinessRow, request: PaymentRequest): Target {
  if (request.payableId === undefined) {
    const contact = contactOf(ctx.db, business.id, request.contactId ?? "");
    if (contact === undefined) throw objectNotFound("Contact");
    return { payable: undefined, contact };
  }
  const payable = payableOf(ctx.db, business.id, request.payableId);
  if (payable === undefined) throw objectNotFound("Payable");
  const contact = payable.contact_id === null ? undefined : contactById(ctx.db, payable.contact_id);
  if (contact === undefined) {
    throw stateRefusal("contact_not_payable", "This bill has no linked contact");
  }
  return { payable, contact };
}

function checkBusiness(business: BusinessRow): void {
  if (!isReadyToPay(business)) {
    throw stateRefusal(
      "setup_incomplete",
      "The business has not finished its verification and set-up",
      {
        status: business.verification,
      },
    );
  }
  if (business.payments_locked === 1) {
    throw stateRefusal("payments_locked", "Payments of this business are locked");
  }
}

function amountOf(
  ctx: SandboxContext,
  business: BusinessRow,
  { payable }: Target,
  requestedCents: number | undefined,
): number {
  if (payable === undefined) return requestedCents ?? 0;
  if (payable.status !== "approved") {
    throw stateRefusal("approval_required", `This bill is ${payable.status}, not approved`, {
      status: payable.status,
    });
  }
  if (business.accepts_double_payments === 1) return requestedCents ?? payable.total_cents;
  const owedCents = payable.total_cents - payable.paid_cents;
  if (owedCents <= 0) throw invalid("payableId", "Nothing is left to pay on this bill");
  if (requestedCents !== undefined && requestedCents > owedCents) {
    throw invalid(
      "amountCents",
      `amountCents is ${requestedCents}, but only ${owedCents} cents are owed on this bill`,
    );
  }
  const onItsWayCents = inFlightCents(paymentsOfPayable(ctx.db, payable.id));
  const freeCents = owedCents - onItsWayCents;
  if (freeCents <= 0 || (requestedCents ?? freeCents) > freeCents) {
    throw stateRefusal("payment_in_progress", "A payment of this bill is already on its way", {
      inProgressCents: onItsWayCents,
    });
  }
  return requestedCents ?? freeCents;
}

function nameOf(contact: ContactRow): string {
  return contact.display_name ?? "This contact";
}

function generatePayable(
  ctx: SandboxContext,
  business: BusinessRow,
  request: PaymentRequest,
  amountCents: number,
): string {
  const nowMs = ctx.clock.bankNow();
  const id = insertPayable(ctx.db, {
    business_id: business.id,
    contact_id: request.contactId ?? null,
    status: "approved",
    total_cents: amountCents,
    created_at: nowMs,
    issue_date: newYorkDay(nowMs),
    description: request.description,
    custom_number: request.customNumber,
    items: [
      {
        name: request.description ?? "Payment",
        description: null,
        quantity: 1,
        unitAmountCents: amountCents,
        totalCents: amountCents,
      },
    ],
  });
  ctx.emitEvent({
    type: "payable.created",
    businessId: business.id,
    object: "payable",
    id,
  });
  return id;
}

/**
 * Splits an amount into payments that are each within the largest payment.
 *
 * @param parts the least number of payments, as even as cents allow, for test numbers that call for
 * it.
 */
function split(amountCents: number, parts: number): number[] {
  const evenCents = Math.ceil(amountCents / parts);
  const partCents = Math.min(evenCents, largestPaymentCents);
  const amounts: number[] = [];
  for (let left = amountCents; left > 0; left -= partCents) {
    amounts.push(Math.min(left, partCents));
  }
  return amounts;
}

function insertPayments(
  ctx: SandboxContext,
  plan: {
    businessId: string;
    payableId: string;
    contactId: string;
    source: PaymentSource;
    clearing: PaymentRow["clearing"];
    amounts: readonly number[];
    scheduledAtMs: number | undefined;
    nowMs: number;
  },
): PaymentsCreated {
  const { scheduledAtMs, nowMs } = plan;
  const rows = plan.amounts.map((amountCents): PaymentRow => ({
    id: newId("pay"),
    business_id: plan.businessId,
    payable_id: plan.payableId,
    contact_id: plan.contactId,
    status: scheduledAtMs === undefined ? "pending" : "scheduled",
    amount_cents: amountCents,
    ...plan.source,
    clearing: plan.clearing,
    scheduled_at: scheduledAtMs ?? nowMs,
    processed_at: null,
    failure_reason: null,
    cancel_reason: null,
    created_at: nowMs,
    updated_at: nowMs,
    debited: 0,
    credited: 0,
    hold_by: null,
    planned: null,
    due_at: scheduledAtMs ?? nowMs + submitAfterMs,
    due_step: "submit",
  }));
  for (const row of rows) insertPayment(ctx.db, row);
  refreshPaymentStatus(ctx.db, plan.payableId);
  if (scheduledAtMs !== undefined) {
    ctx.emitEvent({
      type: "payable.payment.scheduled",
      businessId: plan.businessId,
      object: "payable",
      id: plan.payableId,
    });
  }
  return { payableId: plan.payableId, payments: rows.map(paymentJson) };
}
