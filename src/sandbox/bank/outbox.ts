import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { afterCommit, allRows, execute, getRow, insertRow, transaction } from "../db.ts";
import type { BankMove, BankOrder, LedgerTotals, MoveKind, RefusedMove } from "./moves.ts";

/** The service's side of its books with the bank. */
export const bankDdl = `
CREATE TABLE IF NOT EXISTS bank_outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  move_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  amount_cents INTEGER NOT NULL,
  move TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'booked', 'refused')),
  refusal TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS bank_outbox_queued ON bank_outbox (seq) WHERE state = 'queued';
CREATE TABLE IF NOT EXISTS bank_ledger (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  ledger_id TEXT NOT NULL
) STRICT;
`;

const pumps = new WeakMap<DatabaseSync, Set<() => void>>();

/**
 * Orders a move of money from the bank in the caller's transaction. If the transaction is rolled
 * back, the order is never sent; once committed, it is sent until the bank has answered.
 *
 * @throws if a move with this id has been ordered before.
 */
export function enqueueBankMove(db: DatabaseSync, move: BankMove): void {
  enqueue(db, move, move.amountCents);
}

/** Orders a statement of what a business's balance holds from now on, in order with the moves. */
export function enqueueStatement(db: DatabaseSync, businessId: string, balanceCents: number): void {
  const id = `${businessId}:statement:${randomUUID()}`;
  enqueue(db, { id, kind: "statement", businessId, balanceCents }, balanceCents);
}

function enqueue(db: DatabaseSync, order: BankOrder, amountCents: number): void {
  insertRow(db, "bank_outbox", {
    move_id: order.id,
    kind: order.kind,
    amount_cents: amountCents,
    move: JSON.stringify(order),
  });
  afterCommit(db, () => {
    for (const wake of pumps.get(db) ?? []) wake();
  });
}

/** Calls `wake` whenever an order has been committed. @returns a function that stops that. */
export function onBankMove(db: DatabaseSync, wake: () => void): () => void {
  const wakes = pumps.get(db) ?? new Set();
  pumps.set(db, wakes.add(wake));
  return () => wakes.delete(wake);
}

/**
 * Returns the id of the ledger that belongs to the service's present data; a new one after a reset.
 */
export function ledgerIdOf(db: DatabaseSync): string {
  const row = getRow<{ ledger_id: string }>(db, "SELECT ledger_id FROM bank_ledger");
  if (row !== undefined) return row.ledger_id;
  const ledgerId = randomUUID();
  insertRow(db, "bank_ledger", { one: 1, ledger_id: ledgerId });
  return ledgerId;
}

/** Returns the next unanswered orders, oldest first. */
export function queuedOrders(db: DatabaseSync, limit: number): BankOrder[] {
  return allRows<{ move: string }>(
    db,
    "SELECT move FROM bank_outbox WHERE state = 'queued' ORDER BY seq LIMIT ?",
    limit,
  ).map((row) => JSON.parse(row.move) as BankOrder);
}

/** Records the bank's answer to orders that were sent to it. */
export function markAnswered(
  db: DatabaseSync,
  orders: readonly BankOrder[],
  refusals: readonly RefusedMove[],
): void {
  const refused = new Map(refusals.map(({ moveId, reason }) => [moveId, reason]));
  transaction(db, () => {
    for (const { id } of orders) {
      const reason = refused.get(id) ?? null;
      const state = reason === null ? "booked" : "refused";
      const sql = "UPDATE bank_outbox SET state = ?, refusal = ? WHERE move_id = ?";
      execute(db, sql, state, reason, id);
    }
  });
}

/**
 * Returns the sequence number of the newest order, which shows whether orders came in meanwhile; 0
 * if there is none.
 */
export function lastOrder(db: DatabaseSync): number {
  return getRow<{ seq: number | null }>(db, "SELECT max(seq) AS seq FROM bank_outbox")?.seq ?? 0;
}

/**
 * Returns the number of queued orders, the bank's refusals, and the totals that the bank says it
 * has booked.
 */
export function outboxBooks(db: DatabaseSync): {
  queued: number;
  refusals: RefusedMove[];
  booked: LedgerTotals;
} {
  const booked: LedgerTotals = {};
  const rows = allRows<{ state: string; kind: MoveKind; n: number; cents: number }>(
    db,
    `SELECT state, kind, count(*) AS n, sum(amount_cents) AS cents FROM bank_outbox
     GROUP BY state, kind`,
  );
  for (const { state, kind, n, cents } of rows) {
    if (state === "booked") booked[kind] = { entries: n, amountCents: cents };
  }
  const queued = rows.reduce((sum, row) => sum + (row.state === "queued" ? row.n : 0), 0);
  const refusals = allRows<RefusedMove>(
    db,
    `SELECT move_id AS moveId, refusal AS reason FROM bank_outbox
     WHERE state = 'refused' ORDER BY seq`,
  );
  return { queued, refusals, booked };
}
