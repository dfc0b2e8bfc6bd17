import type { MoveKind } from "../bank/moves.ts";
import { orderMove } from "../balance/cash.ts";
import { balanceFigures } from "../balance/figures.ts";
import { addDuration } from "../clock/duration.ts";
import type { SandboxContext } from "../context.ts";
import { instantText, newId } from "../ids.ts";
import { settlementInstant } from "../payments/banking-days.ts";
import { parsePlanned, type PlannedOutcome } from "../payments/planned-outcome.ts";
import { scheduleStep } from "../schedule/scheduled-steps.ts";
import { tellInvoice } from "./events.ts";
import {
  addReceived,
  changeInvoice,
  changeReceipt,
  insertReceipt,
  invoiceById,
  type InvoicePaymentStatus,
  type InvoiceRow,
  receiptById,
  type ReceiptRow,
  receiptsOf,
  type ReceiptStatus,
} from "./tables.ts";

/** Starts a customer's payment: at the scheduled instant if one is given, otherwise now. */
export function beginReceipt(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  payment: {
    amountCents: number;
    planned: PlannedOutcome | undefined;
    nowMs: number;
    scheduledAtMs?: number;
  },
): void {
  const { amountCents, planned, nowMs, scheduledAtMs } = payment;
  const receipt = newReceipt(ctx, invoice, { amountCents, status: "scheduled", planned });
  if (scheduledAtMs === undefined) return submitReceipt(ctx, receipt.id, nowMs);
  scheduleStep(ctx.db, "receipt-submits", receipt.id, scheduledAtMs);
  refresh(ctx, receipt);
  tellInvoice(ctx, invoice, "payment.scheduled");
}

function newReceipt(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  fields: { amountCents: number; status: ReceiptStatus; planned?: PlannedOutcome | undefined },
): ReceiptRow {
  const receipt: ReceiptRow = {
    id: newId("rcpt"),
    invoice_id: invoice.id,
    business_id: invoice.business_id,
    status: fields.status,
    amount_cents: fields.amountCents,
    planned: fields.planned === undefined ? null : JSON.stringify(fields.planned),
  };
  insertReceipt(ctx.db, receipt);
  return receipt;
}

/** Hands a payment to the network, or holds it for review before anything has moved. */
export function submitReceipt(ctx: SandboxContext, id: string, atMs: number): void {
  const receipt = receiptById(ctx.db, id);
  if (receipt.status !== "scheduled") return;
  const planned = parsePlanned(receipt.planned);
  if (planned?.outcome !== "hold") return debitCustomer(ctx, receipt, atMs);
  changeReceipt(ctx.db, id, { status: "held", planned: null });
  const releaseAtMs = afterOf(planned, atMs);
  if (releaseAtMs !== undefined) scheduleStep(ctx.db, "receipt-releases", id, releaseAtMs);
  refresh(ctx, receipt);
}

/** Releases a payment that was held. */
export function releaseReceipt(ctx: SandboxContext, id: string, atMs: number): void {
  const receipt = receiptById(ctx.db, id);
  if (receipt.status === "held") debitCustomer(ctx, receipt, atMs);
}

/** Ends a payment that was held, or has not begun, without moving any money. */
export function rejectReceipt(ctx: SandboxContext, receipt: ReceiptRow): void {
  changeReceipt(ctx.db, receipt.id, { status: "rejected" });
  refresh(ctx, receipt);
}

function debitCustomer(ctx: SandboxContext, receipt: ReceiptRow, atMs: number): void {
  const planned = receipt.status === "held" ? undefined : parsePlanned(receipt.planned);
  move(ctx, receipt, "debit", atMs);
  changeReceipt(ctx.db, receipt.id, { status: "processing" });
  const own = planned?.outcome === "return" ? undefined : afterOf(planned, atMs);
  const days = planned?.outcome === "fail" ? 1 : 2;
  scheduleStep(ctx.db, "receipt-settles", receipt.id, own ?? settlementInstant(atMs, days));
  refresh(ctx, receipt);
}

function afterOf(planned: PlannedOutcome | undefined, fromMs: number): number | undefined {
  return planned?.after === undefined ? undefined : addDuration(fromMs, planned.after);
}

/**
 * Settles a payment: the customer's money reaches the balance, or the customer's bank takes it
 * back.
 */
export function settleReceipt(ctx: SandboxContext, id: string, atMs: number): void {
  const receipt = receiptById(ctx.db, id);
  if (receipt.status !== "processing") return;
  const planned = parsePlanned(receipt.planned);
  if (planned?.outcome === "fail") return fail(ctx, receipt, atMs);
  move(ctx, receipt, "credit", atMs);
  changeReceipt(ctx.db, id, { status: "settled" });
  if (planned?.outcome === "return") {
    const returnAtMs = afterOf(planned, atMs) ?? settlementInstant(atMs, 1);
    scheduleStep(ctx.db, "receipt-returns", id, returnAtMs);
  }
  count(ctx, receipt);
}

function fail(ctx: SandboxContext, receipt: ReceiptRow, atMs: number): void {
  move(ctx, receipt, "return", atMs);
  changeReceipt(ctx.db, receipt.id, { status: "failed" });
  tellInvoice(ctx, refresh(ctx, receipt), "payment.failed");
}

/**
 * Claws back a settled payment for the customer's bank. If the balance no longer has the money,
 * this is tried again each banking day, because the bank lets no balance be negative.
 */
export function clawBackReceipt(ctx: SandboxContext, id: string, atMs: number): void {
  const receipt = receiptById(ctx.db, id);
  if (receipt.status !== "settled") return;
  if (balanceFigures(ctx.db, receipt.business_id).availableCents < receipt.amount_cents) {
    scheduleStep(ctx.db, "receipt-returns", id, settlementInstant(atMs, 1));
    return;
  }
  move(ctx, receipt, "return", atMs);
  move(ctx, receipt, "refund", atMs);
  changeReceipt(ctx.db, id, { status: "returned" });
  addReceived(ctx.db, receipt.invoice_id, -receipt.amount_cents);
  const invoice = refresh(ctx, receipt);
  if (invoice.status === "paid") changeInvoice(ctx.db, invoice.id, { status: "open" });
  tellInvoice(ctx, invoice, "payment.reversed");
}

/** Counts a payment as paid, and closes the invoice if nothing is due any more. */
function count(ctx: SandboxContext, receipt: ReceiptRow): void {
  addReceived(ctx.db, receipt.invoice_id, receipt.amount_cents);
  const invoice = refresh(ctx, receipt);
  const isPaid = invoice.paid_cents >= invoice.total_cents;
  if (isPaid) changeInvoice(ctx.db, invoice.id, { status: "paid" });
  tellInvoice(ctx, invoice, isPaid ? "paid" : "payment.partially_paid");
}

/** Records a payment by check, wire or cash: no money moves through the service. */
export function recordOutside(ctx: SandboxContext, invoice: InvoiceRow, amountCents: number): void {
  count(ctx, newReceipt(ctx, invoice, { amountCents, status: "settled" }));
}

/** Inserts a payment that already has its result, with the money that it has moved. */
export function recordPast(
  ctx: SandboxContext,
  invoice: InvoiceRow,
  past: { amountCents: number; status: "settled" | "failed" | "returned"; atMs: number },
): void {
  const { amountCents, status, atMs } = past;
  const receipt = newReceipt(ctx, invoice, { amountCents, status });
  move(ctx, receipt, "debit", atMs);
  if (status === "failed") move(ctx, receipt, "return", atMs);
  else move(ctx, receipt, "credit", atMs);
  if (status === "settled") addReceived(ctx.db, invoice.id, amountCents);
  if (status === "returned") {
    move(ctx, receipt, "return", atMs);
    move(ctx, receipt, "refund", atMs);
  }
  refresh(ctx, receipt);
}

/** Returns the cents of payments that are neither settled nor known to be unpaid. */
export function receiptsInFlightCents(ctx: SandboxContext, invoiceId: string): number {
  return receiptsOf(ctx.db, invoiceId)
    .filter(({ status }) => ["scheduled", "held", "processing"].includes(status))
    .reduce((sum, { amount_cents }) => sum + amount_cents, 0);
}

/**
 * Updates the invoice's `paymentStatus` to match its payments. @returns the invoice as it is now.
 */
function refresh(ctx: SandboxContext, { invoice_id }: ReceiptRow): InvoiceRow {
  const invoice = invoiceById(ctx.db, invoice_id);
  if (invoice === undefined) throw new Error(`there is no invoice ${invoice_id}`);
  const payment_status = derive(receiptsOf(ctx.db, invoice_id), invoice);
  changeInvoice(ctx.db, invoice_id, { payment_status });
  return { ...invoice, payment_status };
}

function derive(receipts: readonly ReceiptRow[], invoice: InvoiceRow): InvoicePaymentStatus {
  for (const status of ["held", "processing", "scheduled"] as const) {
    if (receipts.some((receipt) => receipt.status === status)) return status;
  }
  if (invoice.paid_cents >= invoice.total_cents) return "settled";
  const last = receipts.findLast(({ status }) => status !== "rejected")?.status;
  if (last === "failed") return "failed";
  return last === "returned" ? "clawback" : "none";
}

function move(ctx: SandboxContext, receipt: ReceiptRow, kind: MoveKind, atMs: number): void {
  orderMove(
    ctx.db,
    {
      id: `${receipt.id}:${kind}`,
      at: instantText(atMs),
      kind,
      paymentId: null,
      transactionId: receipt.id,
      payableId: null,
      businessId: receipt.business_id,
      amountCents: receipt.amount_cents,
    },
    toBalanceCents(receipt, kind),
  );
}

/**
 * Returns the cents that the balance gains by a move. A failure gives the debit back to the
 * customer and leaves the balance alone; a clawback takes the credit from the balance.
 */
function toBalanceCents(receipt: ReceiptRow, kind: MoveKind): number {
  if (kind === "credit") return receipt.amount_cents;
  const wasCredited = receipt.status === "settled" || receipt.status === "returned";
  return kind === "return" && wasCredited ? -receipt.amount_cents : 0;
}
