import type { DatabaseSync } from "node:sqlite";
import { execute, getRow, insertRow } from "../db.ts";
import { magicOutcome } from "./magic.ts";
import type { PaymentRow } from "./payment-rows.ts";
import { parsePlanned, type PlannedOutcome } from "./planned-outcome.ts";

export const outcomesDdl = `
CREATE TABLE IF NOT EXISTS outcomes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  payable_id TEXT,
  contact_id TEXT,
  payment_id TEXT,
  transaction_id TEXT,
  bank_account_id TEXT,
  planned TEXT NOT NULL,
  times_left INTEGER
);
`;

export interface OutcomeMatch {
  payableId?: string | undefined;
  contactId?: string | undefined;
  paymentId?: string | undefined;
  /** The id of a deposit or withdrawal. */
  transactionId?: string | undefined;
  /** The business's own account, for payments that debit it, deposits and withdrawals. */
  bankAccountId?: string | undefined;
}

/**
 * Records what the bank will do with the payments that match: with `times` of them, or with all.
 */
export function insertOutcome(
  db: DatabaseSync,
  match: OutcomeMatch,
  planned: PlannedOutcome,
  times: number | undefined,
): void {
  insertRow(db, "outcomes", {
    payable_id: match.payableId ?? null,
    contact_id: match.contactId ?? null,
    payment_id: match.paymentId ?? null,
    transaction_id: match.transactionId ?? null,
    bank_account_id: match.bankAccountId ?? null,
    planned: JSON.stringify(planned),
    times_left: times ?? null,
  });
}

interface OutcomeRow {
  seq: number;
  planned: string;
}

/**
 * Returns the newest outcome that matches a payment, and uses up one of its `times`. If none
 * matches, returns what the account number of its contact, or else of its payer, stands for.
 */
export function takeOutcome(db: DatabaseSync, payment: PaymentRow): PlannedOutcome | undefined {
  const row = getRow<OutcomeRow>(
    db,
    `SELECT seq, planned FROM outcomes
     WHERE (times_left IS NULL OR times_left > 0)
       AND transaction_id IS NULL
       AND (payable_id IS NULL OR payable_id = ?)
       AND (contact_id IS NULL OR contact_id = ?)
       AND (payment_id IS NULL OR payment_id = ?)
       AND (bank_account_id IS NULL OR bank_account_id = ?)
     ORDER BY seq DESC LIMIT 1`,
    payment.payable_id,
    payment.contact_id,
    payment.id,
    payment.bank_account_id,
  );
  if (row !== undefined) return use(db, row);
  return magicOutcome(db, payment.contact_id) ?? magicOutcome(db, payment.bank_account_id);
}

/**
 * Returns the outcome of a deposit or withdrawal in the same way; only the transfer's own id or its
 * bank account matches it.
 */
export function takeTransferOutcome(
  db: DatabaseSync,
  transfer: { id: string; bank_account_id: string },
): PlannedOutcome | undefined {
  const row = getRow<OutcomeRow>(
    db,
    `SELECT seq, planned FROM outcomes
     WHERE (times_left IS NULL OR times_left > 0)
       AND payable_id IS NULL AND contact_id IS NULL AND payment_id IS NULL
       AND (transaction_id = ? OR (transaction_id IS NULL AND bank_account_id = ?))
     ORDER BY seq DESC LIMIT 1`,
    transfer.id,
    transfer.bank_account_id,
  );
  return row === undefined ? magicOutcome(db, transfer.bank_account_id) : use(db, row);
}

function use(db: DatabaseSync, row: OutcomeRow): PlannedOutcome | undefined {
  execute(db, "UPDATE outcomes SET times_left = times_left - 1 WHERE seq = ?", row.seq);
  return parsePlanned(row.planned);
}
