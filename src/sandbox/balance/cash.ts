import type { DatabaseSync } from "node:sqlite";
import type { BankMove } from "../bank/moves.ts";
import { enqueueBankMove, enqueueStatement } from "../bank/outbox.ts";
import { execute, getRow } from "../db.ts";

/**
 * Orders a move of money from the bank and applies it to the business's balance, both in the
 * caller's transaction, so that the balance and the ledger always add up.
 *
 * @param toBalanceCents cents that the balance gains, or loses if negative; 0 for a move between
 * accounts outside it.
 */
export function orderMove(db: DatabaseSync, move: BankMove, toBalanceCents: number): void {
  enqueueBankMove(db, { ...move, toBalanceCents });
  if (toBalanceCents === 0) return;
  execute(
    db,
    "UPDATE businesses SET cash_cents = cash_cents + ? WHERE id = ?",
    toBalanceCents,
    move.businessId,
  );
}

/**
 * Opens a business's balance at the bank, with enough in it for the past that a fixture gives it.
 */
export function openAccount(db: DatabaseSync, businessId: string, cents: number): void {
  enqueueStatement(db, businessId, cents);
}

/**
 * Sets what a business's balance holds, at the service and at the bank. It is for fixtures and for
 * a person who changes the balance by hand, because that money comes from nowhere.
 */
export function setCash(db: DatabaseSync, businessId: string, cashCents: number): void {
  execute(db, "UPDATE businesses SET cash_cents = ? WHERE id = ?", cashCents, businessId);
  enqueueStatement(db, businessId, cashCents);
}

/** Returns what each business's balance holds by the service's books, in cents. */
export function allCash(db: DatabaseSync, businessIds: readonly string[]): Map<string, number> {
  const sql = "SELECT cash_cents FROM businesses WHERE id = ?";
  return new Map(
    businessIds.map((id) => [id, getRow<{ cash_cents: number }>(db, sql, id)?.cash_cents ?? 0]),
  );
}
