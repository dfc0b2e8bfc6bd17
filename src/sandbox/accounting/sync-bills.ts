import type { SandboxContext } from "../context.ts";
import { payOutside } from "../control/payables-by-hand.ts";
import { inFlightCents, paymentsOfPayable } from "../payments/payment-rows.ts";
import { totalled } from "../resources/payable-operations.ts";
import {
  changePayable,
  insertPayable,
  payableById,
  type PayableRow,
} from "../resources/payables.ts";
import { type BookBill, bookRecord, bookRecords, putBookRecord } from "./books.ts";
import { countResults, type SyncResult } from "./sync-result.ts";
import { contactOfVendor, syncVendor } from "./sync-vendors.ts";
import { linkOf, type LinkRow, putLink } from "./tables.ts";

/**
 * Makes the books' open bills payables of the business, and marks in the books those that the
 * business has paid.
 */
export function syncBills(ctx: SandboxContext, businessId: string, atMs: number): SyncResult {
  return countResults(bookRecords(ctx.db, businessId, "invoices"), (bill) => {
    const link = linkOf(ctx.db, businessId, "invoices", bill.id);
    const payable = link?.service_id ? payableById(ctx.db, link.service_id) : undefined;
    if (link === undefined || payable === undefined) return addBill(ctx, businessId, bill, atMs);
    const isPaid = payable.paid_cents >= payable.total_cents;
    if (isPaid && bill.status === "open") {
      const paid: BookBill = { ...bill, status: "paid" };
      putBookRecord(ctx.db, businessId, "invoices", paid);
      putLink(ctx.db, { ...link, synced: JSON.stringify(paid), updated_at: atMs });
      return "pushed";
    }
    if (link.synced === JSON.stringify(bill)) return "unchanged";
    return changeBill(ctx, payable, bill, link, atMs);
  });
}

function addBill(
  ctx: SandboxContext,
  businessId: string,
  bill: BookBill,
  atMs: number,
): keyof SyncResult {
  const { items, totalCents } = amountsOf(bill);
  if (bill.status !== "open" || totalCents < 1) return "skipped";
  const id = insertPayable(ctx.db, {
    business_id: businessId,
    contact_id: vendorContact(ctx, businessId, bill.vendorId, atMs),
    status: "draft",
    total_cents: totalCents,
    created_at: atMs,
    due_date: bill.dueDate,
    issue_date: bill.issueDate,
    custom_number: bill.number,
    description: bill.memo,
    items,
  });
  putLink(ctx.db, {
    business_id: businessId,
    entity_type: "invoices",
    record_id: bill.id,
    service_id: id,
    is_mapped: 0,
    synced: JSON.stringify(bill),
    updated_at: atMs,
  });
  ctx.emitEvent({ type: "payable.created", businessId, object: "payable", id });
  return "created";
}

function amountsOf(bill: BookBill) {
  const lines = bill.lines.map((line) => ({ ...line, description: undefined }));
  const items = totalled(lines);
  return { items, totalCents: items.reduce((sum, item) => sum + item.totalCents, 0) };
}

/**
 * Returns the vendor's contact. A bill brings its vendor along if the vendor has not been synced.
 */
function vendorContact(
  ctx: SandboxContext,
  businessId: string,
  vendorId: string,
  atMs: number,
): string | null {
  const known = contactOfVendor(ctx, businessId, vendorId);
  const vendor = bookRecord(ctx.db, businessId, "vendors", vendorId);
  if (known !== null || vendor === undefined) return known;
  syncVendor(ctx, businessId, vendor, atMs);
  return contactOfVendor(ctx, businessId, vendorId);
}

/** Applies a change in the books to a bill that has no payment, neither completed nor under way. */
function changeBill(
  ctx: SandboxContext,
  payable: PayableRow,
  bill: BookBill,
  link: LinkRow,
  atMs: number,
): keyof SyncResult {
  const isMoving = inFlightCents(paymentsOfPayable(ctx.db, payable.id)) > 0;
  const isOver = ["void", "declined", "blocked"].includes(payable.status);
  const { items, totalCents } = amountsOf(bill);
  if (isMoving || isOver || payable.paid_cents > 0 || totalCents < 1) return "skipped";
  putLink(ctx.db, { ...link, synced: JSON.stringify(bill), updated_at: atMs });
  if (bill.status === "paid") {
    payOutside(ctx, { payableId: payable.id });
    return "updated";
  }
  const tell = (type: string): void =>
    ctx.emitEvent({ type, businessId: payable.business_id, object: "payable", id: payable.id });
  if (bill.status === "void") {
    changePayable(ctx.db, payable.id, { status: "void" });
    tell("payable.cancelled");
    return "updated";
  }
  const isReset = payable.status === "approved";
  changePayable(ctx.db, payable.id, {
    total_cents: totalCents,
    items: JSON.stringify(items),
    due_date: bill.dueDate,
    issue_date: bill.issueDate,
    custom_number: bill.number,
    description: bill.memo,
    contact_id: vendorContact(ctx, payable.business_id, bill.vendorId, atMs),
    ...(isReset && { status: "pending_approval" }),
  });
  if (isReset) tell("payable.approval_reset");
  return "updated";
}
