import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { invalid } from "../http/api-error.ts";
import { amountUpTo } from "../http/validation.ts";
import { newYorkDay, newYorkInstant } from "../payments/banking-days.ts";
import { callersBusiness } from "../resources/businesses.ts";
import { payableFields, totalled, totalOf } from "../resources/payable-operations.ts";
import { tellInvoice } from "./events.ts";
import { customerOf, invitation } from "./operations.ts";
import { beginReceipt, recordOutside, recordPast } from "./receipts.ts";
import {
  changeInvoice,
  insertInvoice,
  invoiceById,
  invoicePaymentStatuses,
  type InvoicePaymentStatus,
  type InvoiceRow,
  invoiceStatuses,
} from "./tables.ts";
import { canReceive } from "./views.ts";

const largestCents = 1_000_000_000_000;

/** An invoice as fixtures and the control API give it, in any status. */
export const givenInvoice = z.object({
  id: z.string().min(1).optional(),
  customerId: z.string().optional(),
  customer: invitation.optional(),
  status: z.enum(invoiceStatuses).default("open"),
  paymentStatus: z.enum(invoicePaymentStatuses).optional(),
  /** What has been paid; defaults to all of it if the status is `paid`. */
  amountPaidCents: z.int().min(0).max(largestCents).optional(),
  ...payableFields,
  totalAmountCents: amountUpTo(largestCents).optional(),
  createdAt: z.iso.datetime({ offset: true }).optional(),
});

export type GivenInvoice = z.infer<typeof givenInvoice>;

/**
 * Creates an invoice as it is given, with the money that has moved for it.
 *
 * @param nowMs the bank clock's time.
 * @throws {ApiError} if what is given contradicts itself.
 */
export function enterInvoice(
  ctx: SandboxContext,
  businessId: string,
  given: GivenInvoice,
  nowMs: number,
): InvoiceRow {
  const items = totalled(given.items);
  const invoice = insertInvoice(
    ctx.db,
    {
      business_id: businessId,
      ...customerOf(ctx, businessId, given),
      status: given.status,
      total_cents: totalOf(items, given.totalAmountCents),
      created_at: given.createdAt === undefined ? nowMs : Date.parse(given.createdAt),
      due_date: given.dueDate,
      issue_date: given.issueDate,
      custom_number: given.customNumber,
      description: given.description,
      items,
    },
    given.id,
  );
  tellInvoice(ctx, invoice, "created");
  payGiven(ctx, invoice, given, nowMs);
  return invoiceById(ctx.db, invoice.id) ?? invoice;
}

function payGiven(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  given: GivenInvoice,
  nowMs: number,
): void {
  const paidCents = paidCentsOf(invoice, given);
  if (paidCents > 0) {
    const isReceived = canReceive(callersBusiness(ctx.db, invoice.business_id));
    const past = { amountCents: paidCents, status: "settled", atMs: nowMs } as const;
    if (isReceived) recordPast(ctx, invoice, past);
    else recordOutside(ctx, invoice, paidCents);
  }
  const restCents = invoice.total_cents - paidCents;
  if (restCents > 0) payRest(ctx, invoice, { status: given.paymentStatus, restCents, nowMs });
  // A payment may have moved the status on.
  changeInvoice(ctx.db, invoice.id, { status: given.status });
}

function paidCentsOf(invoice: InvoiceRow, given: GivenInvoice): number {
  const isPaid = given.status === "paid" || given.paymentStatus === "settled";
  const paidCents = given.amountPaidCents ?? (isPaid ? invoice.total_cents : 0);
  if (isPaid ? paidCents !== invoice.total_cents : paidCents >= invoice.total_cents) {
    throw invalid(
      "amountPaidCents",
      `An invoice over ${invoice.total_cents} cents is ${given.status} with ${paidCents} cents paid`,
    );
  }
  return paidCents;
}

function payRest(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  rest: { status: InvoicePaymentStatus | undefined; restCents: number; nowMs: number },
): void {
  const { restCents: amountCents, nowMs } = rest;
  switch (rest.status) {
    case "scheduled": {
      const tomorrow = newYorkDay(nowMs + 86_400_000);
      const scheduledAtMs = newYorkInstant(tomorrow, "09:00");
      return beginReceipt(ctx, invoice, { amountCents, planned: undefined, nowMs, scheduledAtMs });
    }
    case "processing":
      return beginReceipt(ctx, invoice, { amountCents, planned: undefined, nowMs });
    case "held":
      return beginReceipt(ctx, invoice, { amountCents, planned: { outcome: "hold" }, nowMs });
    case "failed":
      return recordPast(ctx, invoice, { amountCents, status: "failed", atMs: nowMs });
    case "clawback":
      return recordPast(ctx, invoice, { amountCents, status: "returned", atMs: nowMs });
    default:
  }
}
