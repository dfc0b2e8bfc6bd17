import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { amountUpTo } from "../http/validation.ts";
import { paymentById, paymentJson, refreshPaymentStatus } from "../payments/payment-rows.ts";
import { allBusinesses, businessById, type BusinessRow } from "../resources/businesses.ts";
import { contactOf } from "../resources/contacts.ts";
import {
  payableFields,
  payableStatus,
  totalled,
  totalOf,
} from "../resources/payable-operations.ts";
import { changePayable, insertPayable, payableById, payableJson } from "../resources/payables.ts";
import { insertPastPayment } from "./past-payments.ts";

export const newPayable = z.object({
  businessId: z.string().optional(),
  contactId: z.string().nullable().optional(),
  status: payableStatus.default("approved"),
  ...payableFields,
});

/**
 * Strict, like every change by hand: if an unknown field were ignored, the change would look as if
 * it had been made.
 */
export const payableChange = z.strictObject({
  contactId: z.string().nullable().optional(),
  status: payableStatus.optional(),
  ...payableFields,
});

export const outsidePayment = z.strictObject({
  payableId: z.string(),
  amountCents: amountUpTo(1_000_000_000_000).optional(),
});

/** Creates a bill; its status is approved by default. */
export function createPayableByHand(
  ctx: SandboxContext,
  body: z.infer<typeof newPayable>,
): Record<string, unknown> {
  const business = namedOrOnlyBusiness(ctx, body.businessId);
  const contactId = body.contactId ?? null;
  if (contactId !== null && contactOf(ctx.db, business.id, contactId) === undefined) {
    throw objectNotFound("Contact");
  }
  const items = totalled(body.items);
  const id = insertPayable(ctx.db, {
    business_id: business.id,
    contact_id: contactId,
    status: body.status,
    total_cents: totalOf(items, body.totalAmountCents),
    created_at: ctx.clock.bankNow(),
    due_date: body.dueDate,
    issue_date: body.issueDate,
    custom_number: body.customNumber,
    description: body.description,
    items,
  });
  tellPayable(ctx, business.id, id, "payable.created");
  return payableNow(ctx, id);
}

/** Returns the business with that id, or the only business if no id is given. */
export function namedOrOnlyBusiness(ctx: SandboxContext, id: string | undefined): BusinessRow {
  const businesses = id === undefined ? allBusinesses(ctx.db) : [];
  const [first, second] = businesses;
  if (id === undefined && (first === undefined || second !== undefined)) {
    throw invalid("businessId", "businessId is required where there is more than one business");
  }
  const business = id === undefined ? first : businessById(ctx.db, id);
  if (business === undefined) throw objectNotFound("Business");
  return business;
}

/** Edits, submits, approves, declines, blocks or voids a bill, or resets its approval. */
export function changePayableByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof payableChange>,
): Record<string, unknown> {
  const payable = payableById(ctx.db, id);
  if (payable === undefined) throw objectNotFound("Payable");
  const { contactId } = body;
  if (typeof contactId === "string" && !contactOf(ctx.db, payable.business_id, contactId)) {
    throw objectNotFound("Contact");
  }
  const items = body.items && totalled(body.items);
  const totalCents = items ? totalOf(items, body.totalAmountCents) : body.totalAmountCents;
  if (totalCents !== undefined && totalCents < payable.paid_cents) {
    throw invalid("totalAmountCents", `${payable.paid_cents} cents have been paid on this bill`);
  }
  changePayable(ctx.db, id, {
    ...(body.status !== undefined && { status: body.status }),
    ...(contactId !== undefined && { contact_id: contactId }),
    ...(totalCents !== undefined && { total_cents: totalCents }),
    ...(items !== undefined && { items: JSON.stringify(items) }),
    ...(body.dueDate !== undefined && { due_date: body.dueDate }),
    ...(body.issueDate !== undefined && { issue_date: body.issueDate }),
    ...(body.customNumber !== undefined && { custom_number: body.customNumber }),
    ...(body.description !== undefined && { description: body.description }),
  });
  refreshPaymentStatus(ctx.db, id);
  const event = statusEvent(payable.status, body.status ?? payable.status);
  if (event !== undefined) tellPayable(ctx, payable.business_id, id, event);
  return payableNow(ctx, id);
}

/**
 * Returns the event of a status change, if any. Section 6 has no type for a bill that is blocked,
 * submitted, or reopened after it was declined.
 */
function statusEvent(before: string, after: string): string | undefined {
  if (before === after) return undefined;
  switch (after) {
    case "approved":
      return "payable.approved";
    case "declined":
      return "payable.declined";
    case "void":
      return "payable.cancelled";
    case "draft":
    case "pending_approval":
      return before === "approved" ? "payable.approval_reset" : undefined;
    default:
      return undefined;
  }
}

/** Records a payment made by check, wire or cash: no money moves through the service. */
export function payOutside(
  ctx: SandboxContext,
  body: z.infer<typeof outsidePayment>,
): Record<string, unknown> {
  const payable = payableById(ctx.db, body.payableId);
  if (payable === undefined) throw objectNotFound("Payable");
  const owedCents = payable.total_cents - payable.paid_cents;
  const amountCents = body.amountCents ?? owedCents;
  if (amountCents < 1 || amountCents > owedCents) {
    throw invalid("amountCents", `${owedCents} cents are owed on this bill`);
  }
  const target = {
    id: payable.id,
    businessId: payable.business_id,
    contactId: payable.contact_id,
    totalCents: amountCents,
    createdAt: ctx.clock.bankNow(),
  };
  const id = insertPastPayment(ctx, target, {
    status: "completed",
    amountCents,
    paymentRail: null,
  });
  refreshPaymentStatus(ctx.db, payable.id);
  const isPaid = amountCents === owedCents;
  const event = isPaid ? "payable.paid" : "payable.payment.partially_paid";
  tellPayable(ctx, payable.business_id, payable.id, event);
  const payment = paymentById(ctx.db, id);
  if (payment === undefined) throw new Error(`payment ${id} was not inserted`);
  return paymentJson(payment);
}

function tellPayable(ctx: SandboxContext, businessId: string, id: string, type: string): void {
  ctx.emitEvent({ type, businessId, object: "payable", id });
}

function payableNow(ctx: SandboxContext, id: string): Record<string, unknown> {
  const row = payableById(ctx.db, id);
  if (row === undefined) throw new Error(`payable ${id} vanished`);
  return payableJson(ctx.db, row);
}
