import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { allRows, execute, getRow, insertRow, updateRow } from "../db.ts";
import { newId } from "../ids.ts";
import type { PayableItem } from "../resources/payables.ts";

/** Invoices and what customers pay on them; instants are of the bank clock. */
export const invoicesDdl = `
CREATE TABLE IF NOT EXISTS invoices (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  public_id TEXT NOT NULL,
  business_id TEXT NOT NULL,
  customer_id TEXT,
  customer_name TEXT,
  status TEXT NOT NULL,
  payment_status TEXT NOT NULL,
  total_cents INTEGER NOT NULL CHECK (total_cents > 0),
  paid_cents INTEGER NOT NULL,
  due_date TEXT,
  issue_date TEXT,
  custom_number TEXT,
  description TEXT,
  items TEXT NOT NULL,
  link_on INTEGER NOT NULL,
  link_token TEXT NOT NULL,
  link_expires_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS invoices_business ON invoices (business_id, seq);
CREATE INDEX IF NOT EXISTS invoices_status ON invoices (business_id, status, seq);
CREATE TABLE IF NOT EXISTS invoice_receipts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  invoice_id TEXT NOT NULL,
  business_id TEXT NOT NULL,
  status TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  planned TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS invoice_receipts_invoice ON invoice_receipts (invoice_id, seq);
CREATE INDEX IF NOT EXISTS invoice_receipts_moving ON invoice_receipts (business_id)
  WHERE status = 'processing';
`;

/** Invoice status (API specification, section 3). */
export const invoiceStatuses = ["draft", "open", "paid", "void", "declined", "blocked"] as const;

export type InvoiceState = (typeof invoiceStatuses)[number];

export const invoicePaymentStatuses = [
  "none",
  "scheduled",
  "processing",
  "held",
  "settled",
  "failed",
  "clawback",
] as const;

export type InvoicePaymentStatus = (typeof invoicePaymentStatuses)[number];

/** `items` is JSON; `customer_name` is the name of a customer with a pending invitation. */
export interface InvoiceRow {
  id: string;
  public_id: string;
  business_id: string;
  customer_id: string | null;
  customer_name: string | null;
  status: InvoiceState;
  payment_status: InvoicePaymentStatus;
  total_cents: number;
  paid_cents: number;
  due_date: string | null;
  issue_date: string | null;
  custom_number: string | null;
  description: string | null;
  items: string;
  link_on: number;
  link_token: string;
  link_expires_at: number | null;
  created_at: number;
}

export type ReceiptStatus =
  | "scheduled"
  | "held"
  | "processing"
  | "settled"
  | "failed"
  | "returned"
  | "rejected";

/** A payment of a customer on an invoice; its id is the bank's `transactionId`. */
export interface ReceiptRow {
  id: string;
  invoice_id: string;
  business_id: string;
  status: ReceiptStatus;
  amount_cents: number;
  /** JSON of the `PlannedOutcome` that the bank will give it. */
  planned: string | null;
}

export type NewInvoiceRow = Pick<
  InvoiceRow,
  "business_id" | "customer_id" | "status" | "total_cents" | "created_at"
> & {
  customer_name?: string | null | undefined;
  due_date?: string | null | undefined;
  issue_date?: string | null | undefined;
  custom_number?: string | null | undefined;
  description?: string | null | undefined;
  items: readonly PayableItem[];
};

/** Inserts an invoice on which nothing has been paid, with its payment link on. */
export function insertInvoice(
  db: DatabaseSync,
  invoice: NewInvoiceRow,
  id = newId("inv"),
): InvoiceRow {
  const row: InvoiceRow = {
    id,
    public_id: nextPublicId(db, invoice.business_id),
    business_id: invoice.business_id,
    customer_id: invoice.customer_id,
    customer_name: invoice.customer_name ?? null,
    status: invoice.status,
    payment_status: "none",
    total_cents: invoice.total_cents,
    paid_cents: 0,
    due_date: invoice.due_date ?? null,
    issue_date: invoice.issue_date ?? null,
    custom_number: invoice.custom_number ?? null,
    description: invoice.description ?? null,
    items: JSON.stringify(invoice.items),
    link_on: 1,
    link_token: randomBytes(16).toString("base64url"),
    link_expires_at: null,
    created_at: invoice.created_at,
  };
  insertRow(db, "invoices", { ...row });
  return row;
}

function nextPublicId(db: DatabaseSync, businessId: string): string {
  const last = getRow<{ public_id: string }>(
    db,
    "SELECT public_id FROM invoices WHERE business_id = ? ORDER BY seq DESC LIMIT 1",
    businessId,
  );
  const number = last === undefined ? 1 : Number(last.public_id.slice("INV-".length)) + 1;
  return `INV-${String(number).padStart(6, "0")}`;
}

export function invoiceById(db: DatabaseSync, id: string): InvoiceRow | undefined {
  return getRow(db, "SELECT * FROM invoices WHERE id = ?", id);
}

/**
 * Returns a business's own invoice; an invoice of another business is treated as if it didn't
 * exist.
 */
export function invoiceOf(
  db: DatabaseSync,
  businessId: string,
  id: string,
): InvoiceRow | undefined {
  const row = invoiceById(db, id);
  return row?.business_id === businessId ? row : undefined;
}

export function changeInvoice(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<InvoiceRow, "id" | "business_id">>,
): void {
  updateRow(db, "invoices", id, changes);
}

/** Adds to the paid amount; a negative amount takes back what was returned. */
export function addReceived(db: DatabaseSync, id: string, amountCents: number): void {
  execute(db, "UPDATE invoices SET paid_cents = paid_cents + ? WHERE id = ?", amountCents, id);
}

export function insertReceipt(db: DatabaseSync, row: ReceiptRow): void {
  insertRow(db, "invoice_receipts", { ...row });
}

export function changeReceipt(
  db: DatabaseSync,
  id: string,
  changes: Partial<Pick<ReceiptRow, "status" | "planned">>,
): void {
  updateRow(db, "invoice_receipts", id, changes);
}

/** Returns a receipt that is known to exist. */
export function receiptById(db: DatabaseSync, id: string): ReceiptRow {
  const row = getRow<ReceiptRow>(db, "SELECT * FROM invoice_receipts WHERE id = ?", id);
  if (row === undefined) throw new Error(`there is no receipt ${id}`);
  return row;
}

/** Returns an invoice's payments and attempted payments, oldest first. */
export function receiptsOf(db: DatabaseSync, invoiceId: string): ReceiptRow[] {
  return allRows(db, "SELECT * FROM invoice_receipts WHERE invoice_id = ? ORDER BY seq", invoiceId);
}

/**
 * Returns the cents that customers' banks have been debited for and that the balance has not
 * received yet.
 */
export function receiptsOnTheWayCents(db: DatabaseSync, businessId: string): number {
  const row = getRow<{ cents: number | null }>(
    db,
    `SELECT sum(amount_cents) AS cents FROM invoice_receipts
     WHERE business_id = ? AND status = 'processing'`,
    businessId,
  );
  return row?.cents ?? 0;
}
