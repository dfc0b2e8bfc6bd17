import { z } from "zod";
import { requireOpenBalance } from "../balance/balance.ts";
import { outcomeRule } from "../control/outcome-rule.ts";
import type { SandboxContext } from "../context.ts";
import { invalid, objectNotFound } from "../http/api-error.ts";
import { amountUpTo, plainDate } from "../http/validation.ts";
import { newId } from "../ids.ts";
import { newYorkDay, newYorkInstant } from "../payments/banking-days.ts";
import type { PlannedOutcome } from "../payments/planned-outcome.ts";
import { callersBusiness } from "../resources/businesses.ts";
import { insertContact } from "../resources/contacts.ts";
import { namedOrOnlyBusiness } from "../control/payables-by-hand.ts";
import { tellInvoice } from "./events.ts";
import { enterInvoice, givenInvoice } from "./given.ts";
import { current, dueCents, refuseInvoice, requireStatus } from "./life.ts";
import {
  beginReceipt,
  receiptsInFlightCents,
  recordPast,
  rejectReceipt,
  releaseReceipt,
} from "./receipts.ts";
import { changeInvoice, invoiceById, type InvoiceRow, receiptsOf } from "./tables.ts";
import { invoiceJson } from "./views.ts";

const { outcome, code, reason, after } = outcomeRule.shape;

/**
 * What a customer does with an invoice: `pay` it, `decline` it, `block` it, or `join` as a contact
 * if the customer was invited. Also what the service's review does with a payment that it holds:
 * `release` or `reject` it. A `status` names the result instead; `paid` settles at once.
 */
export const invoiceChange = z
  .strictObject({
    action: z.enum(["pay", "decline", "block", "join", "release", "reject"]).optional(),
    status: z.enum(["paid", "declined", "blocked"]).optional(),
    amountCents: amountUpTo(1_000_000_000_000).optional(),
    /** The customer pays on this date, at 9:00 in New York; at once by default. */
    on: plainDate.optional(),
    outcome: outcome.optional(),
    code,
    reason,
    after,
  })
  .refine(({ action, status }) => (action === undefined) !== (status === undefined), {
    path: ["action"],
    error: "exactly one of action and status is required",
    params: { status: 400 },
  });

export const newInvoice = givenInvoice.extend({ businessId: z.string().optional() });

/** Creates an invoice; its status is open by default. */
export function createInvoiceByHand(
  ctx: SandboxContext,
  { businessId, ...given }: z.infer<typeof newInvoice>,
): Record<string, unknown> {
  const business = namedOrOnlyBusiness(ctx, businessId);
  return invoiceJson(ctx, enterInvoice(ctx, business.id, given, ctx.clock.bankNow()));
}

type InvoiceChange = z.infer<typeof invoiceChange>;

/** Carries out a customer's action on an invoice. */
export function changeInvoiceByHand(
  ctx: SandboxContext,
  id: string,
  change: InvoiceChange,
): Record<string, unknown> {
  const invoice = invoiceById(ctx.db, id);
  if (invoice === undefined) throw objectNotFound("Invoice");
  act(ctx, invoice, change);
  return invoiceJson(ctx, current(ctx, invoice));
}

function act(ctx: SandboxContext, invoice: InvoiceRow, change: InvoiceChange): void {
  switch (change.action ?? change.status) {
    case "pay":
      return pay(ctx, invoice, change);
    case "paid":
      return settleAtOnce(ctx, invoice, change);
    case "decline":
    case "declined":
      refuseInvoice(ctx, invoice, "declined");
      return;
    case "block":
    case "blocked":
      refuseInvoice(ctx, invoice, "blocked");
      return;
    case "join":
      return join(ctx, invoice);
    case "release":
    case "reject":
      return review(ctx, invoice, change.action === "release");
    case undefined:
  }
}

function pay(ctx: SandboxContext, invoice: InvoiceRow, change: InvoiceChange): void {
  const amountCents = payableCents(ctx, invoice, change.amountCents);
  const planned: PlannedOutcome | undefined =
    change.outcome === undefined ? undefined : { ...change, outcome: change.outcome };
  const nowMs = ctx.clock.bankNow();
  if (change.on === undefined) return beginReceipt(ctx, invoice, { amountCents, planned, nowMs });
  if (change.on <= newYorkDay(nowMs)) {
    throw invalid("on", "on must be tomorrow or later (New York's date on the bank clock)");
  }
  const scheduledAtMs = newYorkInstant(change.on, "09:00");
  beginReceipt(ctx, invoice, { amountCents, planned, nowMs, scheduledAtMs });
}

/** @throws {ApiError} if the invoice isn't open, has less due, or the business can't receive. */
function payableCents(ctx: SandboxContext, invoice: InvoiceRow, asked: number | undefined): number {
  requireStatus(invoice, ["open"], "paid");
  requireOpenBalance(callersBusiness(ctx.db, invoice.business_id));
  const inFlightCents = receiptsInFlightCents(ctx, invoice.id);
  const rest = { ...invoice, paid_cents: invoice.paid_cents + inFlightCents };
  const amountCents = dueCents(rest, asked);
  if (amountCents < 1) throw invalid("amountCents", "All that is due is on its way already");
  return amountCents;
}

function settleAtOnce(ctx: SandboxContext, invoice: InvoiceRow, change: InvoiceChange): void {
  const amountCents = payableCents(ctx, invoice, change.amountCents);
  recordPast(ctx, invoice, { amountCents, status: "settled", atMs: ctx.clock.bankNow() });
  const isPaid = invoice.paid_cents + amountCents >= invoice.total_cents;
  if (isPaid) changeInvoice(ctx.db, invoice.id, { status: "paid" });
  tellInvoice(ctx, invoice, isPaid ? "paid" : "payment.partially_paid");
}

function join(ctx: SandboxContext, invoice: InvoiceRow): void {
  if (invoice.customer_id !== null) {
    throw invalid("action", "This invoice's customer is a contact already");
  }
  const id = newId("con");
  insertContact(ctx.db, {
    id,
    business_id: invoice.business_id,
    type: "business",
    status: "active",
    display_name: invoice.customer_name,
    emails: "[]",
    phone: null,
    address: null,
    payment_direction: "can_pay",
    net_terms: null,
    bank_last4: null,
    bank_account_type: null,
    tax_legal_name: null,
    tax_id_type: null,
    tax_id_mask: null,
    created_at: ctx.clock.bankNow(),
    updated_at: null,
    archived_at: null,
  });
  const { business_id: businessId } = invoice;
  ctx.emitEvent({ type: "contact.created", businessId, object: "contact", id });
  changeInvoice(ctx.db, invoice.id, { customer_id: id, customer_name: null });
  tellInvoice(ctx, invoice, "updated");
}

function review(ctx: SandboxContext, invoice: InvoiceRow, isReleased: boolean): void {
  const held = receiptsOf(ctx.db, invoice.id).filter(({ status }) => status === "held");
  if (held.length === 0) throw invalid("action", "No payment of this invoice is held");
  for (const receipt of held) {
    if (isReleased) releaseReceipt(ctx, receipt.id, ctx.clock.bankNow());
    else rejectReceipt(ctx, receipt);
  }
}
