import type { DatabaseSync } from "node:sqlite";
import { allRows, execute, getRow } from "../db.ts";
import { newYorkDay } from "../payments/banking-days.ts";
import type { SyncedEntity } from "./tables.ts";

/** A vendor in the accounting system. */
export interface BookVendor {
  id: string;
  displayName: string;
  email: string | null;
  phone: string | null;
  /** The last four digits of the account on which it is paid, if the books know it. */
  bankAccountLast4: string | null;
  active: boolean;
}

/** A bank account in the accounting system's chart of accounts. */
export interface BookBankAccount {
  id: string;
  name: string;
  last4: string | null;
}

/** A bill in the accounting system, which calls it an invoice. */
export interface BookBill {
  id: string;
  vendorId: string;
  number: string | null;
  issueDate: string | null;
  dueDate: string | null;
  memo: string | null;
  status: "open" | "paid" | "void";
  lines: { name: string; quantity: number; unitAmountCents: number }[];
}

/** The record of each entity type. */
export interface BookRecords {
  vendors: BookVendor;
  bankAccounts: BookBankAccount;
  invoices: BookBill;
}

/** Returns all records of a kind, in the order of their ids. */
export function bookRecords<Type extends SyncedEntity>(
  db: DatabaseSync,
  businessId: string,
  entityType: Type,
): BookRecords[Type][] {
  return allRows<{ data: string }>(
    db,
    "SELECT data FROM accounting_records WHERE business_id = ? AND entity_type = ? ORDER BY id",
    businessId,
    entityType,
  ).map(({ data }) => JSON.parse(data) as BookRecords[Type]);
}

export function bookRecord<Type extends SyncedEntity>(
  db: DatabaseSync,
  businessId: string,
  entityType: Type,
  id: string,
): BookRecords[Type] | undefined {
  const row = getRow<{ data: string }>(
    db,
    "SELECT data FROM accounting_records WHERE business_id = ? AND entity_type = ? AND id = ?",
    businessId,
    entityType,
    id,
  );
  return row === undefined ? undefined : (JSON.parse(row.data) as BookRecords[Type]);
}

/** Adds a record, or replaces the one with its id. */
export function putBookRecord<Type extends SyncedEntity>(
  db: DatabaseSync,
  businessId: string,
  entityType: Type,
  record: BookRecords[Type],
): void {
  execute(
    db,
    `INSERT INTO accounting_records (business_id, entity_type, id, data) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET data = excluded.data`,
    businessId,
    entityType,
    record.id,
    JSON.stringify(record),
  );
}

const vendorNames = [
  ["Harbor Freight Lines", "billing@harbor-freight.example", "4410"],
  ["Bluebird Office Supply", "ar@bluebird.example", "8802"],
  ["Kestrel Cloud Hosting", "invoices@kestrel.example", "3177"],
  ["Maple Street Landlords", "rent@maple-street.example", "9054"],
  ["Quarry & Sons Masonry", null, null],
] as const;

const billLines = [
  [1, "INV-20417", "Freight, two pallets", 2, 42_500, 6],
  [2, "BO-3391", "Paper and toner", 1, 18_930, 12],
  [3, "KCH-0077", "Hosting", 1, 129_900, 15],
  [4, "RENT", "Rent", 1, 650_000, 9],
  [1, "INV-20455", "Freight, one pallet", 1, 42_500, 27],
  [5, "118", "Garden wall", 1, 875_000, 21],
] as const;

/** Fills the books of a business that has none yet, with bills that fall due from now on. */
export function openBooks(
  db: DatabaseSync,
  businessId: string,
  nowMs: number,
  defaultLast4: string | null,
): void {
  const sql = "SELECT 1 AS one FROM accounting_records WHERE business_id = ? LIMIT 1";
  if (getRow(db, sql, businessId) !== undefined) return;
  for (const [index, [displayName, email, bankAccountLast4]] of vendorNames.entries()) {
    const id = `vendor-${index + 1}`;
    const vendor = { id, displayName, email, phone: null, bankAccountLast4, active: true };
    putBookRecord(db, businessId, "vendors", vendor);
  }
  const accounts = [
    { id: "account-1", name: "1000 Checking", last4: defaultLast4 },
    { id: "account-2", name: "1010 Payroll", last4: "7310" },
  ];
  for (const account of accounts) putBookRecord(db, businessId, "bankAccounts", account);
  for (const [index, line] of billLines.entries()) {
    const [vendor, number, name, quantity, unitAmountCents, dueInDays] = line;
    putBookRecord(db, businessId, "invoices", {
      id: `bill-${index + 1}`,
      vendorId: `vendor-${vendor}`,
      number,
      issueDate: newYorkDay(nowMs),
      dueDate: newYorkDay(nowMs + dueInDays * 86_400_000),
      memo: null,
      status: "open",
      lines: [{ name, quantity, unitAmountCents }],
    });
  }
}
