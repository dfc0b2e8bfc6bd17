import { DatabaseSync, type StatementSync } from "node:sqlite";
import type {
  BalanceStatement,
  BankBooks,
  BankMove,
  BankOrder,
  LedgerEntry,
  LedgerTotals,
  MoveKind,
  RefusedMove,
} from "./moves.ts";

const ddl = `
CREATE TABLE IF NOT EXISTS ledger (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  move_id TEXT NOT NULL UNIQUE,
  at TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('debit', 'credit', 'return', 'refund')),
  payment_id TEXT,
  transaction_id TEXT,
  payable_id TEXT,
  business_id TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  CHECK (payment_id IS NOT NULL OR transaction_id IS NOT NULL)
) STRICT;
CREATE INDEX IF NOT EXISTS ledger_payment ON ledger (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS ledger_transaction ON ledger (transaction_id)
  WHERE transaction_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS balances (
  business_id TEXT PRIMARY KEY,
  cents INTEGER NOT NULL CHECK (cents >= 0)
) STRICT;
CREATE TABLE IF NOT EXISTS statements (
  order_id TEXT PRIMARY KEY
) STRICT;
CREATE TABLE IF NOT EXISTS refusals (
  move_id TEXT PRIMARY KEY,
  reason TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS ledger_no_update BEFORE UPDATE ON ledger
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER IF NOT EXISTS ledger_no_delete BEFORE DELETE ON ledger
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
-- INSERT OR REPLACE deletes without asking the trigger above.
CREATE TRIGGER IF NOT EXISTS ledger_no_replace BEFORE INSERT ON ledger
  WHEN EXISTS (SELECT 1 FROM ledger WHERE move_id = NEW.move_id OR seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
`;

type Row = Record<string, unknown>;

/**
 * The bank's append-only book of real money moves, in a SQLite file of its own.
 *
 * SQL triggers refuse to change or delete an entry, so not even a bug in the bank's own code can
 * rewrite what moved.
 */
export class Ledger {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;");
    this.#db.exec(ddl);
  }

  /**
   * Books orders one after the other, all in one transaction. A move that is already booked is
   * skipped; a move that cannot be booked is refused forever.
   *
   * @returns the moves that were refused, now or when they were first sent.
   */
  apply(orders: readonly BankOrder[]): RefusedMove[] {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const refusals: RefusedMove[] = [];
      for (const order of orders) {
        const reason = order.kind === "statement" ? this.#state(order) : this.#book(order);
        if (reason !== undefined) refusals.push({ moveId: order.id, reason });
      }
      this.#db.exec("COMMIT");
      return refusals;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /** Returns the entries after a place in the book, in the order in which they were booked. */
  entries(afterSeq: number, limit: number): { entries: LedgerEntry[]; lastSeq: number } {
    const rows = this.#db
      .prepare("SELECT * FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?")
      .all(afterSeq, limit);
    const last = rows.at(-1);
    return { entries: rows.map(toEntry), lastSeq: last ? Number(last["seq"]) : afterSeq };
  }

  /** Returns the figures that the service's books are compared with. */
  books(): BankBooks {
    const rows = this.#db.prepare("SELECT business_id, cents FROM balances").all();
    const balances = rows.map((row) => [String(row["business_id"]), Number(row["cents"])] as const);
    return { totals: this.#totals(), balances: Object.fromEntries(balances) };
  }

  #totals(): LedgerTotals {
    const totals: LedgerTotals = {};
    const rows = this.#db
      .prepare("SELECT kind, count(*) AS n, sum(amount_cents) AS cents FROM ledger GROUP BY kind")
      .all();
    for (const row of rows) {
      const kind = row["kind"] as MoveKind;
      totals[kind] = { entries: Number(row["n"]), amountCents: Number(row["cents"]) };
    }
    return totals;
  }

  close(): void {
    this.#db.close();
  }

  #state({ id, businessId, balanceCents }: BalanceStatement): string | undefined {
    const isNew = this.#prepared("INSERT OR IGNORE INTO statements VALUES (?)").run(id).changes > 0;
    if (!isNew) return undefined;
    if (!Number.isSafeInteger(balanceCents) || balanceCents < 0) {
      return "a balance must be a number of cents, and not negative";
    }
    this.#prepared(
      `INSERT INTO balances VALUES (?, ?)
       ON CONFLICT (business_id) DO UPDATE SET cents = excluded.cents`,
    ).run(businessId, balanceCents);
    return undefined;
  }

  #book(move: BankMove): string | undefined {
    const booked = this.#prepared("SELECT * FROM ledger WHERE move_id = ?").get(move.id);
    if (booked !== undefined) {
      return sameMove(booked, move) ? undefined : "the id belongs to another move";
    }
    const refused = this.#prepared("SELECT reason FROM refusals WHERE move_id = ?").get(move.id);
    if (refused !== undefined) return String(refused["reason"]);
    const reason = impossible(move) ?? this.#contradicts(move) ?? this.#overdraws(move);
    if (reason === undefined) {
      this.#append(move);
      return undefined;
    }
    this.#prepared("INSERT INTO refusals (move_id, reason) VALUES (?, ?)").run(move.id, reason);
    return reason;
  }

  #append(move: BankMove): void {
    this.#prepared(
      `INSERT INTO ledger (move_id, at, kind, payment_id, transaction_id, payable_id,
           business_id, amount_cents) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      move.id,
      move.at,
      move.kind,
      move.paymentId,
      move.transactionId,
      move.payableId,
      move.businessId,
      move.amountCents,
    );
    this.#prepared("UPDATE balances SET cents = cents + ? WHERE business_id = ?").run(
      move.toBalanceCents ?? 0,
      move.businessId,
    );
  }

  /**
   * Returns why the business's balance can't pay the move; undefined if it can. A balance that was
   * never stated to the bank has no limit.
   */
  #overdraws({ businessId, toBalanceCents = 0 }: BankMove): string | undefined {
    if (toBalanceCents >= 0) return undefined;
    const row = this.#prepared("SELECT cents FROM balances WHERE business_id = ?").get(businessId);
    if (row === undefined || Number(row["cents"]) + toBalanceCents >= 0) return undefined;
    return `the balance of ${String(row["cents"])} cents would become negative`;
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /**
   * Returns why the move cannot follow what is booked for its payment or transaction; undefined if
   * it can.
   */
  #contradicts(move: BankMove): string | undefined {
    const column = move.paymentId === null ? "transaction_id" : "payment_id";
    const rows = this.#prepared(
      `SELECT kind, business_id, amount_cents FROM ledger WHERE ${column} = ?`,
    ).all(move.paymentId ?? move.transactionId);
    if (rows.some((row) => row["business_id"] !== move.businessId)) {
      return "the payment belongs to another business";
    }
    const moved = (kind: MoveKind): number =>
      rows
        .filter((row) => row["kind"] === kind)
        .reduce((sum, row) => sum + Number(row["amount_cents"]), 0);
    const cents = { debit: moved("debit"), credit: moved("credit"), return: moved("return") };
    if (rows.some((row) => row["kind"] === move.kind)) {
      return `the ${move.paymentId === null ? "transaction" : "payment"} already has a ${move.kind}`;
    }
    const isBareCredit = move.paymentId === null && cents.debit === 0;
    return isBareCredit ? contradictsCredit(move, cents.credit) : outOfOrder(move, cents);
  }
}

function impossible(move: BankMove): string | undefined {
  if (!Number.isSafeInteger(move.amountCents) || move.amountCents <= 0) {
    return "the amount must be a positive number of cents";
  }
  if (move.paymentId === null && move.transactionId === null) {
    return "the move names neither a payment nor a transaction";
  }
  if (Number.isNaN(Date.parse(move.at))) return "the move has no instant";
  const toBalanceCents = Math.abs(move.toBalanceCents ?? 0);
  if (toBalanceCents !== 0 && toBalanceCents !== move.amountCents) {
    return "the balance would change by another amount";
  }
  if (move.businessId === "") return "the move names no business";
  if (!["debit", "credit", "return", "refund"].includes(move.kind)) return "the kind is unknown";
  return undefined;
}

/**
 * Checks a move of a transaction such as a micro-deposit, which is a credit without a debit: the
 * service's own money.
 */
function contradictsCredit(move: BankMove, creditCents: number): string | undefined {
  if (move.kind === "debit" || move.kind === "credit") return undefined;
  if (creditCents === 0) return `a ${move.kind} of nothing`;
  if (creditCents === move.amountCents) return undefined;
  return `a ${move.kind} of ${move.amountCents} cents for a credit of ${creditCents} cents`;
}

function outOfOrder(
  move: BankMove,
  cents: { debit: number; credit: number; return: number },
): string | undefined {
  if (move.kind === "debit") return undefined;
  if (cents.debit === 0) return `a ${move.kind} before the payer was debited`;
  if (cents.debit !== move.amountCents) {
    return `a ${move.kind} of ${move.amountCents} cents for a debit of ${cents.debit} cents`;
  }
  const debitCameBack = cents.return > 0 && cents.credit === 0;
  if (move.kind === "credit" && debitCameBack) return "a credit after the debit was returned";
  if (move.kind === "refund" && debitCameBack) return "a refund after the debit was returned";
  if (move.kind === "refund" && cents.credit > 0 && cents.return === 0) {
    return "a refund while the payee has the money";
  }
  return undefined;
}

function toEntry(row: Row): LedgerEntry {
  return {
    id: `entry_${String(row["seq"]).padStart(8, "0")}`,
    at: String(row["at"]),
    kind: row["kind"] as MoveKind,
    paymentId: textOrNull(row["payment_id"]),
    transactionId: textOrNull(row["transaction_id"]),
    payableId: textOrNull(row["payable_id"]),
    businessId: String(row["business_id"]),
    amountCents: Number(row["amount_cents"]),
  };
}

function sameMove(row: Row, move: BankMove): boolean {
  const { id: _id, ...booked } = toEntry(row);
  const { id: _moveId, ...sent } = move;
  return (Object.keys(booked) as (keyof typeof booked)[]).every((k) => booked[k] === sent[k]);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
