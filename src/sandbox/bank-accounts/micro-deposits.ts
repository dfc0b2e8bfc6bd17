import { createHash, randomInt } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { enqueueBankMove } from "../bank/outbox.ts";
import type { SandboxContext } from "../context.ts";
import { getRow, insertRow } from "../db.ts";
import { instantText, newId } from "../ids.ts";
import { settlementInstant } from "../payments/banking-days.ts";
import { scheduleStep } from "../schedule/scheduled-steps.ts";
import { bankAccountById, type BankAccountRow, changeBankAccount } from "./bank-accounts.ts";

/**
 * What the service sent to verify whose account it is. `number_hash` distinguishes two links of one
 * account from two accounts, since full numbers are not stored.
 */
export const microDepositsDdl = `
CREATE TABLE IF NOT EXISTS micro_deposits (
  bank_account_id TEXT PRIMARY KEY,
  number_hash TEXT,
  first_transaction_id TEXT NOT NULL,
  first_cents INTEGER NOT NULL,
  second_transaction_id TEXT NOT NULL,
  second_cents INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS micro_deposits_number ON micro_deposits (number_hash);
`;

interface MicroDepositsRow {
  bank_account_id: string;
  number_hash: string | null;
  first_transaction_id: string;
  first_cents: number;
  second_transaction_id: string;
  second_cents: number;
}

/** The largest micro-deposit: both are credits under $1. */
export const largestMicroDepositCents = 99;

/** Returns what identifies the account behind its numbers, within one business. */
export function numberHashOf(businessId: string, routing: string, account: string): string {
  return createHash("sha256").update(`${businessId} ${routing} ${account}`).digest("base64url");
}

/** Returns the account with these numbers that the business has already linked and not removed. */
export function linkedAccount(db: DatabaseSync, numberHash: string): { id: string } | undefined {
  return getRow(
    db,
    `SELECT bank_accounts.id FROM micro_deposits JOIN bank_accounts
       ON bank_accounts.id = micro_deposits.bank_account_id
     WHERE number_hash = ? AND bank_accounts.status <> 'removed' LIMIT 1`,
    numberHash,
  );
}

/** Sends two different amounts to an account; they arrive on the next banking day. */
export function sendMicroDeposits(
  ctx: SandboxContext,
  account: Pick<BankAccountRow, "id">,
  numberHash: string | null,
  atMs: number,
): void {
  const first = randomInt(1, largestMicroDepositCents + 1);
  const other = randomInt(1, largestMicroDepositCents);
  insertRow(ctx.db, "micro_deposits", {
    bank_account_id: account.id,
    number_hash: numberHash,
    first_transaction_id: newId("md"),
    first_cents: first,
    second_transaction_id: newId("md"),
    second_cents: other < first ? other : other + 1,
  });
  scheduleStep(ctx.db, "micro-deposits-arrive", account.id, settlementInstant(atMs, 1));
}

/** Books both credits as arrived; from now on the account can be verified. */
export function receiveMicroDeposits(
  ctx: SandboxContext,
  bankAccountId: string,
  atMs: number,
): void {
  const account = bankAccountById(ctx.db, bankAccountId);
  const deposits = microDepositsOf(ctx.db, bankAccountId);
  if (account === undefined || deposits === undefined) return;
  const { first_transaction_id, first_cents, second_transaction_id, second_cents } = deposits;
  credit(ctx.db, account, { id: first_transaction_id, cents: first_cents, atMs });
  credit(ctx.db, account, { id: second_transaction_id, cents: second_cents, atMs });
  changeBankAccount(ctx.db, account.id, { micro_deposits_completed_at: atMs });
}

function credit(
  db: DatabaseSync,
  account: BankAccountRow,
  deposit: { id: string; cents: number; atMs: number },
): void {
  enqueueBankMove(db, {
    id: `${deposit.id}:credit`,
    at: instantText(deposit.atMs),
    kind: "credit",
    paymentId: null,
    transactionId: deposit.id,
    payableId: null,
    businessId: account.business_id,
    amountCents: deposit.cents,
  });
}

function microDepositsOf(db: DatabaseSync, id: string): MicroDepositsRow | undefined {
  return getRow(db, "SELECT * FROM micro_deposits WHERE bank_account_id = ?", id);
}

/**
 * Returns the two amounts that were sent to an account, the smaller first; undefined if none were.
 */
export function microDepositAmounts(
  db: DatabaseSync,
  bankAccountId: string,
): readonly [number, number] | undefined {
  const row = microDepositsOf(db, bankAccountId);
  if (row === undefined) return undefined;
  return [Math.min(row.first_cents, row.second_cents), Math.max(row.first_cents, row.second_cents)];
}
