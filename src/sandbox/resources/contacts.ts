import type { DatabaseSync } from "node:sqlite";
import { getRow, insertRow, updateRow } from "../db.ts";
import { instantText, isoInstantOrNull } from "../ids.ts";

/** `emails` and `address` are JSON; full account numbers and tax ids are never stored. */
export interface ContactRow {
  id: string;
  business_id: string;
  type: string;
  status: string;
  display_name: string | null;
  emails: string;
  phone: string | null;
  address: string | null;
  payment_direction: string;
  net_terms: number | null;
  bank_last4: string | null;
  bank_account_type: string | null;
  tax_legal_name: string | null;
  tax_id_type: string | null;
  tax_id_mask: string | null;
  created_at: number;
  updated_at: number | null;
  archived_at: number | null;
}

export function insertContact(db: DatabaseSync, row: ContactRow): void {
  insertRow(db, "contacts", { ...row });
}

export function changeContact(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<ContactRow, "id" | "business_id">>,
): void {
  updateRow(db, "contacts", id, changes);
}

export function contactById(db: DatabaseSync, id: string): ContactRow | undefined {
  return getRow(db, "SELECT * FROM contacts WHERE id = ?", id);
}

/**
 * Returns a business's own contact; a contact of another business is treated as if it didn't exist.
 */
export function contactOf(
  db: DatabaseSync,
  businessId: string,
  id: string,
): ContactRow | undefined {
  const row = contactById(db, id);
  return row?.business_id === businessId ? row : undefined;
}

function isPaymentReady(row: ContactRow): boolean {
  return row.bank_last4 !== null && row.status === "active";
}

/** True if money can be sent to the contact now. */
export function isPayable(row: ContactRow): boolean {
  const receives =
    row.payment_direction === "bidirectional" || row.payment_direction === "can_be_paid";
  return receives && isPaymentReady(row);
}

/** Returns the contact in the API's shape (Contact, section 2). */
export function contactJson(row: ContactRow): Record<string, unknown> {
  const isBusiness = row.type === "business";
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    displayName: row.display_name,
    emails: isBusiness ? [] : JSON.parse(row.emails),
    phone: isBusiness ? null : row.phone,
    paymentDirection: row.payment_direction,
    netTerms: row.net_terms,
    bankAccount: row.bank_last4 === null ? null : { last4: row.bank_last4 },
    taxInfo: taxInfoJson(row),
    paymentReady: isPaymentReady(row),
    createdAt: instantText(row.created_at),
    updatedAt: isoInstantOrNull(row.updated_at),
    archivedAt: isoInstantOrNull(row.archived_at),
  };
}

function taxInfoJson(row: ContactRow): Record<string, unknown> | null {
  const { tax_legal_name: legalName, tax_id_type: taxIdType, tax_id_mask: taxIdMask } = row;
  if (legalName === null && taxIdType === null && taxIdMask === null) return null;
  return { legalName, taxIdType, taxIdMask };
}
