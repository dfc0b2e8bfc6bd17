import type { DatabaseSync } from "node:sqlite";
import { allRows, getRow, insertRow } from "../db.ts";
import { isoInstantOrNull } from "../ids.ts";

export interface BankAccountRow {
  id: string;
  business_id: string;
  status: string;
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
}

export function insertBankAccount(db: DatabaseSync, row: BankAccountRow): void {
  insertRow(db, "bank_accounts", { ...row });
}

export function bankAccountsOf(db: DatabaseSync, businessId: string): BankAccountRow[] {
  return allRows(db, "SELECT * FROM bank_accounts WHERE business_id = ? ORDER BY seq", businessId);
}

/** A business's own bank account; one of another organization is as if it didn't exist. */
export function bankAccountOf(
  db: DatabaseSync,
  businessId: string,
  id: string,
): BankAccountRow | undefined {
  return getRow(db, "SELECT * FROM bank_accounts WHERE id = ? AND business_id = ?", id, businessId);
}

/** Bank account, section 2. */
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
