import type { DatabaseSync } from "node:sqlite";
import { execute, getRow, insertRow, updateRow } from "../db.ts";
import { newId } from "../ids.ts";
import { billJson } from "./bill-shapes.ts";
import { contactById } from "./contacts.ts";

/** `items` is JSON; `paid_cents` and `payment_status` follow the bill's payments. */
export interface PayableRow {
  id: string;
  public_id: string;
  business_id: string;
  contact_id: string | null;
  status: string;
  payment_status: string;
  total_cents: number;
  paid_cents: number;
  due_date: string | null;
  issue_date: string | null;
  custom_number: string | null;
  description: string | null;
  items: string;
  created_at: number;
}

export interface PayableItem {
  name: string | null;
  description: string | null;
  quantity: number;
  unitAmountCents: number;
  totalCents: number;
}

export type NewPayableRow = Pick<
  PayableRow,
  "business_id" | "contact_id" | "status" | "total_cents" | "created_at"
> & {
  due_date?: string | null | undefined;
  issue_date?: string | null | undefined;
  custom_number?: string | null | undefined;
  description?: string | null | undefined;
  items?: readonly PayableItem[] | undefined;
};

/** Takes the numbers of a business's next bills. @returns the first of them. */
export function takeBillNumbers(db: DatabaseSync, businessId: string, count: number): number {
  const business = getRow<{ n: number }>(
    db,
    "UPDATE businesses SET next_bill_number = next_bill_number + ? WHERE id = ? RETURNING next_bill_number AS n",
    count,
    businessId,
  );
  return (business?.n ?? 0) - count + 1;
}

/** Inserts a bill on which nothing has been paid. @returns its id. */
export function insertPayable(
  db: DatabaseSync,
  payable: NewPayableRow,
  id = newId("bill"),
  number = takeBillNumbers(db, payable.business_id, 1),
): string {
  insertRow(db, "payables", {
    id,
    public_id: `BILL-${String(number).padStart(6, "0")}`,
    business_id: payable.business_id,
    contact_id: payable.contact_id,
    status: payable.status,
    payment_status: "none",
    total_cents: payable.total_cents,
    paid_cents: 0,
    due_date: payable.due_date ?? null,
    issue_date: payable.issue_date ?? null,
    custom_number: payable.custom_number ?? null,
    description: payable.description ?? null,
    items: JSON.stringify(payable.items ?? []),
    created_at: payable.created_at,
  });
  return id;
}

export function payableById(db: DatabaseSync, id: string): PayableRow | undefined {
  return getRow(db, "SELECT * FROM payables WHERE id = ?", id);
}

/** Returns a business's own bill; a bill of another business is treated as if it didn't exist. */
export function payableOf(
  db: DatabaseSync,
  businessId: string,
  id: string,
): PayableRow | undefined {
  const row = payableById(db, id);
  return row?.business_id === businessId ? row : undefined;
}

export function changePayable(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<PayableRow, "id" | "business_id">>,
): void {
  updateRow(db, "payables", id, changes);
}

/** Adds to the paid amount; a negative amount takes back what was returned. */
export function addPaid(db: DatabaseSync, id: string, amountCents: number): void {
  execute(db, "UPDATE payables SET paid_cents = paid_cents + ? WHERE id = ?", amountCents, id);
}

/** Returns the bill in the API's shape (PayableDetail, section 2). */
export function payableJson(db: DatabaseSync, row: PayableRow): Record<string, unknown> {
  const contact = row.contact_id === null ? undefined : contactById(db, row.contact_id);
  return {
    ...payableListJson(row, contact?.display_name ?? null),
    items: JSON.parse(row.items),
  };
}

/** Returns what a list shows of a bill: PayableDetail without its items. */
export function payableListJson(
  row: Omit<PayableRow, "items">,
  contactName: string | null,
): Record<string, unknown> {
  return {
    ...billJson(row),
    contact: { id: row.contact_id, displayName: contactName },
  };
}
