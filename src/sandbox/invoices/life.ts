import type { SandboxContext } from "../context.ts";
import { ApiError, invalid, stateRefusal } from "../http/api-error.ts";
import type { PayableItem } from "../resources/payables.ts";
import { type InvoiceEvent, tellInvoice } from "./events.ts";
import { receiptsInFlightCents, recordOutside } from "./receipts.ts";
import { changeInvoice, invoiceById, type InvoiceRow, type InvoiceState } from "./tables.ts";

/**
 * Sends a draft to its customer.
 *
 * @throws {ApiError} 422 if the invoice is not a draft, or has incomplete items.
 */
export function sendInvoice(ctx: SandboxContext, invoice: InvoiceRow): InvoiceRow {
  requireStatus(invoice, ["draft"], "sent");
  const items = JSON.parse(invoice.items) as PayableItem[];
  if (items.some(({ name }) => name === null || name.trim() === "")) {
    throw invalid("invoiceId", "This invoice has incomplete items");
  }
  return moveTo(ctx, invoice, "open", "sent");
}

/**
 * Voids an invoice.
 *
 * @throws {ApiError} 422 if it is neither a draft nor open, or something has been paid on it;
 * `payment_in_progress`.
 */
export function voidInvoice(ctx: SandboxContext, invoice: InvoiceRow): InvoiceRow {
  requireStatus(invoice, ["draft", "open"], "voided");
  requireNothingInFlight(ctx, invoice);
  if (invoice.paid_cents > 0) {
    throw invalid("invoiceId", `${invoice.paid_cents} cents have been paid on this invoice`);
  }
  return moveTo(ctx, invoice, "void", "voided");
}

/** Declines an invoice for the customer, or blocks it for the customer's business. */
export function refuseInvoice(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  status: "declined" | "blocked",
): InvoiceRow {
  requireStatus(invoice, ["open"], status);
  requireNothingInFlight(ctx, invoice);
  return moveTo(ctx, invoice, status, status);
}

/**
 * Records that the customer has paid outside the service: what is due, or a part of it.
 *
 * @throws {ApiError} 422 if the invoice is not open, or the amount is more than is due;
 * `payment_in_progress`.
 */
export function markPaid(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  amountCents: number | undefined,
): InvoiceRow {
  requireStatus(invoice, ["open"], "marked as paid");
  requireNothingInFlight(ctx, invoice);
  recordOutside(ctx, invoice, dueCents(invoice, amountCents));
  return current(ctx, invoice);
}

/**
 * Returns the amount to pay: the requested amount, or all that is due.
 *
 * @throws {ApiError} 422 if it is more than is due.
 */
export function dueCents(invoice: InvoiceRow, askedCents: number | undefined): number {
  const remainingCents = invoice.total_cents - invoice.paid_cents;
  const amountCents = askedCents ?? remainingCents;
  if (amountCents > remainingCents) {
    throw invalid("amountCents", `${remainingCents} cents are due on this invoice`);
  }
  return amountCents;
}

/** @throws {ApiError} 422 with `details.status` if the invoice is in none of these statuses. */
export function requireStatus(
  invoice: InvoiceRow,
  statuses: readonly InvoiceState[],
  done: string,
): void {
  if (statuses.includes(invoice.status)) return;
  const wanted = statuses.join(" or ");
  throw new ApiError(
    422,
    "validation_error",
    `This invoice is ${invoice.status}; only one that is ${wanted} can be ${done}`,
    { field: "invoiceId", status: invoice.status },
  );
}

function requireNothingInFlight(ctx: SandboxContext, invoice: InvoiceRow): void {
  const inFlightCents = receiptsInFlightCents(ctx, invoice.id);
  if (inFlightCents === 0) return;
  throw stateRefusal("payment_in_progress", "The customer is paying this invoice", {
    inFlightCents,
  });
}

function moveTo(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  status: InvoiceState,
  event: InvoiceEvent,
): InvoiceRow {
  changeInvoice(ctx.db, invoice.id, { status });
  tellInvoice(ctx, invoice, event);
  return current(ctx, invoice);
}

/** Returns the invoice as it is now. */
export function current(ctx: SandboxContext, { id }: InvoiceRow): InvoiceRow {
  const row = invoiceById(ctx.db, id);
  if (row === undefined) throw new Error(`invoice ${id} vanished`);
  return row;
}
