import type { DatabaseSync } from "node:sqlite";
import { allRows, getRow, insertRow, updateRow } from "../db.ts";

/** `balance_status` is null while the business has no account with the service. */
export interface BusinessRow {
  id: string;
  organization_id: string;
  name: string;
  verification: string;
  setup_complete: number;
  payments_locked: number;
  /** 1 if a bill is paid as often as a payment of it is requested. */
  accepts_double_payments: number;
  balance_feature: number;
  accelerated_feature: number;
  balance_status: string | null;
  cash_cents: number;
  next_bill_number: number;
  created_at: number;
}

export function insertBusiness(db: DatabaseSync, row: BusinessRow): void {
  insertRow(db, "businesses", { ...row });
}

export function businessById(db: DatabaseSync, id: string): BusinessRow | undefined {
  return getRow(db, "SELECT * FROM businesses WHERE id = ?", id);
}

/**
 * Returns the business of an authenticated caller. It exists, because the token was checked against
 * it.
 */
export function callersBusiness(db: DatabaseSync, id: string): BusinessRow {
  const row = businessById(db, id);
  if (row === undefined) throw new Error(`business ${id} vanished during its request`);
  return row;
}

export function allBusinesses(db: DatabaseSync): BusinessRow[] {
  return allRows(db, "SELECT * FROM businesses ORDER BY rowid");
}

/** Returns the businesses of one organization; a token of any of them may see them all. */
export function businessesOfOrganization(db: DatabaseSync, organizationId: string): BusinessRow[] {
  const sql = "SELECT * FROM businesses WHERE organization_id = ? ORDER BY rowid";
  return allRows(db, sql, organizationId);
}

export function changeBusiness(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<BusinessRow, "id">>,
): void {
  updateRow(db, "businesses", id, changes);
}

/** True if the business has passed verification and completed its set-up, so that it may pay. */
export function isReadyToPay(business: BusinessRow): boolean {
  return business.verification === "verified" && business.setup_complete === 1;
}
