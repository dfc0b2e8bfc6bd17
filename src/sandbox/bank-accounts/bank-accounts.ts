import type { DatabaseSync } from "node:sqlite";
import { allRows, execute, getRow, insertRow, updateRow } from "../db.ts";
import { isoInstantOrNull } from "../ids.ts";

export const bankAccountStatuses = [
  "pending_verification",
  "verified",
  "unverified",
  "removed",
] as const;

export type BankAccountStatus = (typeof bankAccountStatuses)[number];

/** Only the last four digits of the account's numbers are stored. */
export interface BankAccountRow {
  id: string;
  business_id: string;
  status: BankAccountStatus;
  type: string;
  connection_type: string;
  name: string | null;
  institution_name: string | null;
  account_last4: string | null;
  routing_last4: string | null;
  is_default: number;
  micro_deposits_initiated_at: number | null;
  micro_deposits_completed_at: number | null;
  verification_attempts: number;
  /** 1 if its bank requires the owner to sign in again before anything is debited. */
  needs_reauth: number;
}

export function insertBankAccount(db: DatabaseSync, row: BankAccountRow): void {
  insertRow(db, "bank_accounts", { ...row });
}

export function bankAccountsOf(db: DatabaseSync, businessId: string): BankAccountRow[] {
  return allRows(db, "SELECT * FROM bank_accounts WHERE business_id = ? ORDER BY seq", businessId);
}

/**
 * Returns a business's own bank account; an account of another business is treated as if it didn't
 * exist.
 */
export function bankAccountOf(
  db: DatabaseSync,
  businessId: string,
  id: string,
): BankAccountRow | undefined {
  return getRow(db, "SELECT * FROM bank_accounts WHERE id = ? AND business_id = ?", id, businessId);
}

export function bankAccountById(db: DatabaseSync, id: string): BankAccountRow | undefined {
  return getRow(db, "SELECT * FROM bank_accounts WHERE id = ?", id);
}

export function changeBankAccount(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<BankAccountRow, "id" | "business_id">>,
): void {
  updateRow(db, "bank_accounts", id, changes);
}

/** Makes an account its business's default instead of any other. */
export function makeDefault(db: DatabaseSync, account: BankAccountRow): void {
  const sql = "UPDATE bank_accounts SET is_default = (id = ?) WHERE business_id = ?";
  execute(db, sql, account.id, account.business_id);
}

/**
 * Makes the oldest verified account the default if no verified account is. The first account to be
 * verified becomes the default, and a default that is removed passes it on.
 */
export function settleDefault(db: DatabaseSync, businessId: string): void {
  const accounts = bankAccountsOf(db, businessId);
  if (accounts.some(({ status, is_default }) => is_default === 1 && status === "verified")) return;
  const heir = accounts.find(({ status }) => status === "verified");
  if (heir !== undefined) makeDefault(db, heir);
}

/** Returns the bank account in the API's shape (Bank account, section 2). */
export function bankAccountJson(row: BankAccountRow): Record<string, unknown> {
  return {
    id: row.id,
    status: row.status,
    type: row.type,
    connectionType: row.connection_type,
    name: row.name,
    institutionName: row.institution_name,
    accountNumberLast4: row.account_last4,
    routingNumberLast4: row.routing_last4,
    isDefault: row.is_default === 1,
    microDepositsInitiatedAt: isoInstantOrNull(row.micro_deposits_initiated_at),
    microDepositsCompletedAt: isoInstantOrNull(row.micro_deposits_completed_at),
    verificationAttempts: row.verification_attempts,
  };
}
