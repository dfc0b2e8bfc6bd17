import type { DatabaseSync } from "node:sqlite";
import { getRow, insertRow, updateRow } from "../db.ts";
import { instantText, isoInstantOrNull } from "../ids.ts";

/**
 * The transfers between a business's bank accounts and its balance; instants are of the bank clock.
 */
export const balanceDdl = `
CREATE TABLE IF NOT EXISTS transfers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('deposit', 'withdrawal')),
  status TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  bank_account_id TEXT NOT NULL,
  same_day INTEGER NOT NULL,
  debited INTEGER NOT NULL,
  credited INTEGER NOT NULL,
  failure_reason TEXT,
  planned TEXT,
  processed_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS transfers_newest ON transfers (business_id, created_at DESC, seq DESC);
CREATE INDEX IF NOT EXISTS transfers_moving ON transfers (business_id)
  WHERE status IN ('pending', 'processing');
`;

export const transferTypes = ["deposit", "withdrawal"] as const;

export const transferStatuses = [
  "pending",
  "processing",
  "completed",
  "failed",
  "returned",
] as const;

export type TransferStatus = (typeof transferStatuses)[number];

/** A deposit moves from the bank account to the balance, a withdrawal the other way. */
export interface TransferRow {
  id: string;
  business_id: string;
  type: (typeof transferTypes)[number];
  status: TransferStatus;
  amount_cents: number;
  bank_account_id: string;
  /** 1 if it goes by same-day ACH. */
  same_day: number;
  /** 1 once the money has left its account; `credited` is 1 once it has reached the other. */
  debited: number;
  credited: number;
  failure_reason: string | null;
  /** JSON of the `PlannedOutcome` that the bank will give it. */
  planned: string | null;
  processed_at: number | null;
  created_at: number;
  updated_at: number;
}

export function insertTransfer(db: DatabaseSync, row: TransferRow): void {
  insertRow(db, "transfers", { ...row });
}

export function changeTransfer(
  db: DatabaseSync,
  id: string,
  changes: Partial<Omit<TransferRow, "id" | "business_id">>,
): void {
  updateRow(db, "transfers", id, changes);
}

/** Returns a transfer that is known to exist. */
export function transferById(db: DatabaseSync, id: string): TransferRow {
  const row = getRow<TransferRow>(db, "SELECT * FROM transfers WHERE id = ?", id);
  if (row === undefined) throw new Error(`there is no transfer ${id}`);
  return row;
}

/** Returns a balance transaction as the API shows it; its shape is the sandbox's choice. */
export function transferJson(row: TransferRow): Record<string, unknown> {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    amountCents: row.amount_cents,
    bankAccountId: row.bank_account_id,
    sameDay: row.same_day === 1,
    failureReason: row.failure_reason,
    processedAt: isoInstantOrNull(row.processed_at),
    createdAt: instantText(row.created_at),
    updatedAt: instantText(row.updated_at),
  };
}
