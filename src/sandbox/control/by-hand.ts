import { z } from "zod";
import { setCash } from "../balance/cash.ts";
import { recordReview, reviewFields } from "../businesses/review.ts";
import type { SandboxContext } from "../context.ts";
import { invalid, notFound } from "../http/api-error.ts";
import { amount, plainDate } from "../http/validation.ts";
import { rememberAccountNumber } from "../payments/magic.ts";
import { paymentById, paymentJson, refreshPaymentStatus } from "../payments/payment-rows.ts";
import {
  allBusinesses,
  businessById,
  type BusinessRow,
  changeBusiness,
} from "../resources/businesses.ts";
import { contactBankAccount, updateContact } from "../resources/contact-operations.ts";
import { contactById, contactJson, contactOf } from "../resources/contacts.ts";
import {
  payableFields,
  payableStatus,
  totalled,
  totalOf,
} from "../resources/payable-operations.ts";
import { changePayable, insertPayable, payableById, payableJson } from "../resources/payables.ts";
import { insertPastPayment } from "./past-payments.ts";

/** What the business's people, its vendors and the service's reviewers do outside the API. */

export const newPayable = z.object({
  businessId: z.string().optional(),
  contactId: z.string().nullable().optional(),
  status: payableStatus.default("approved"),
  ...payableFields,
});

export const payableChange = z.object({
  contactId: z.string().nullable().optional(),
  status: payableStatus.optional(),
  totalAmountCents: amount(1_000_000_000_000).optional(),
  dueDate: plainDate.nullable().optional(),
  issueDate: plainDate.nullable().optional(),
  customNumber: z.string().max(100).nullable().optional(),
  description: z.string().max(1_000).nullable().optional(),
});

export const contactChange = z.object({
  displayName: z.string().nullable().optional(),
  status: z.enum(["active", "archived", "revoked"]).optional(),
  paymentDirection: z.enum(["bidirectional", "can_pay", "can_be_paid", "none"]).optional(),
  emails: z.array(z.string()).max(5).optional(),
  phone: z.string().nullable().optional(),
  bankAccount: z
    .union([contactBankAccount.partial(), z.object({ last4: z.string().regex(/^\d{4}$/) })])
    .nullable()
    .optional(),
});

export const businessChange = z.object({
  ...reviewFields,
  paymentsLocked: z.boolean().optional(),
  features: z
    .object({ balance: z.boolean().optional(), acceleratedClearing: z.boolean().optional() })
    .optional(),
  setup: z.enum(["complete", "incomplete"]).optional(),
  balanceCents: z.int().min(0).max(1_000_000_000_000).optional(),
});

export const outsidePayment = z.object({
  payableId: z.string(),
  amountCents: amount(1_000_000_000_000).optional(),
});

/** Enters a bill, approved unless said. */
export function createPayableByHand(
  ctx: SandboxContext,
  body: z.infer<typeof newPayable>,
): Record<string, unknown> {
  const business = businessNamed(ctx, body.businessId);
  const contactId = body.contactId ?? null;
  if (contactId !== null && contactOf(ctx.db, business.id, contactId) === undefined) {
    throw notFound("Contact");
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

/** The business of that id, or the only one there is. */
function businessNamed(ctx: SandboxContext, id: string | undefined): BusinessRow {
  const businesses = id === undefined ? allBusinesses(ctx.db) : [];
  const [first, second] = businesses;
  if (id === undefined && (first === undefined || second !== undefined)) {
    throw invalid("businessId", "businessId is required where there is more than one business");
  }
  const business = id === undefined ? first : businessById(ctx.db, id);
  if (business === undefined) throw notFound("Business");
  return business;
}

/** Edits, approves, declines or voids a bill. */
export function changePayableByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof payableChange>,
): Record<string, unknown> {
  const payable = payableById(ctx.db, id);
  if (payable === undefined) throw notFound("Payable");
  const { contactId } = body;
  if (typeof contactId === "string" && !contactOf(ctx.db, payable.business_id, contactId)) {
    throw notFound("Contact");
  }
  if (body.totalAmountCents !== undefined && body.totalAmountCents < payable.paid_cents) {
    throw invalid("totalAmountCents", `${payable.paid_cents} cents have been paid on this bill`);
  }
  changePayable(ctx.db, id, {
    ...(body.status !== undefined && { status: body.status }),
    ...(contactId !== undefined && { contact_id: contactId }),
    ...(body.totalAmountCents !== undefined && { total_cents: body.totalAmountCents }),
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

/** Changes a contact as its owner would: among other things, its bank account. */
export function changeContactByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof contactChange>,
): Record<string, unknown> {
  const contact = contactById(ctx.db, id);
  if (contact === undefined) throw notFound("Contact");
  const bankLast4 = last4Of(body.bankAccount);
  const nowMs = ctx.clock.bankNow();
  if (bankLast4 !== undefined) rememberAccountNumber(ctx.db, id, numberOf(body.bankAccount));
  const updated = updateContact(ctx, contact, {
    ...(body.displayName !== undefined && { display_name: body.displayName }),
    ...(body.status !== undefined && {
      status: body.status,
      archived_at: body.status === "archived" ? nowMs : null,
    }),
    ...(body.emails !== undefined && { emails: JSON.stringify(body.emails) }),
    ...(body.phone !== undefined && { phone: body.phone }),
    ...(bankLast4 !== undefined && {
      bank_last4: bankLast4,
      payment_direction: directionWith(contact.payment_direction, bankLast4 !== null),
    }),
    ...(body.paymentDirection !== undefined && { payment_direction: body.paymentDirection }),
  });
  return contactJson(updated);
}

function numberOf(account: z.infer<typeof contactChange>["bankAccount"]): string | null {
  return account && "accountNumber" in account ? (account.accountNumber ?? null) : null;
}

function last4Of(account: z.infer<typeof contactChange>["bankAccount"]): string | null | undefined {
  if (account === undefined || account === null) return account;
  const last4 = "last4" in account ? account.last4 : account.accountNumber?.slice(-4);
  if (last4 === undefined) throw invalid("bankAccount", "bankAccount needs accountNumber or last4");
  return last4;
}

function directionWith(direction: string, hasAccount: boolean): string {
  if (hasAccount && direction === "none") return "can_be_paid";
  return !hasAccount && direction === "can_be_paid" ? "none" : direction;
}

/** What the service's reviewers and operators decide about a business. */
export function changeBusinessByHand(
  ctx: SandboxContext,
  id: string,
  body: z.infer<typeof businessChange>,
): Record<string, unknown> {
  const business = businessById(ctx.db, id);
  if (business === undefined) throw notFound("Business");
  recordReview(ctx, business, body);
  const { features } = body;
  const flag = (value: boolean) => (value ? 1 : 0);
  const isReady = body.verification === "verified" || body.balanceCents !== undefined;
  changeBusiness(ctx.db, id, {
    ...(body.verification !== undefined && { verification: body.verification }),
    // Passing verification opens the balance.
    ...(isReady && business.balance_status === null && { balance_status: "open" }),
    ...(body.paymentsLocked !== undefined && { payments_locked: flag(body.paymentsLocked) }),
    ...(features?.balance !== undefined && { balance_feature: flag(features.balance) }),
    ...(features?.acceleratedClearing !== undefined && {
      accelerated_feature: flag(features.acceleratedClearing),
    }),
    ...(body.setup !== undefined && { setup_complete: flag(body.setup === "complete") }),
  });
  if (body.balanceCents !== undefined) setCash(ctx.db, id, body.balanceCents);
  return businessJson(businessById(ctx.db, id) ?? business);
}

function businessJson(business: BusinessRow): Record<string, unknown> {
  return {
    id: business.id,
    name: business.name,
    verification: business.verification,
    setup: business.setup_complete === 1 ? "complete" : "incomplete",
    paymentsLocked: business.payments_locked === 1,
    features: {
      balance: business.balance_feature === 1,
      acceleratedClearing: business.accelerated_feature === 1,
    },
    balanceCents: business.balance_status === null ? null : business.cash_cents,
  };
}

/** Records a payment made by check, wire or cash: no money moves through the service. */
export function payOutside(
  ctx: SandboxContext,
  body: z.infer<typeof outsidePayment>,
): Record<string, unknown> {
  const payable = payableById(ctx.db, body.payableId);
  if (payable === undefined) throw notFound("Payable");
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
