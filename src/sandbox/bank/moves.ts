/**
 * What moved: `debit` takes money from the payer, `credit` gives it to the payee. `return` takes
 * the credit back from the payee or, without a credit, gives the debit back to the payer. `refund`
 * gives the debit back to the payer after its credit was returned or before there was one.
 */
export type MoveKind = "debit" | "credit" | "return" | "refund";

/** One move of money, as the service orders it and the bank books it. */
export interface BankMove {
  /** The service's id of this order; the bank books an id once, no matter how often it is sent. */
  id: string;
  /** Instant on the bank clock, ISO 8601. */
  at: string;
  kind: MoveKind;
  /** Set for payments; moves of deposits, withdrawals and the like have `transactionId` instead. */
  paymentId: string | null;
  transactionId: string | null;
  payableId: string | null;
  businessId: string;
  amountCents: number;
  /** Cents that the business's balance at the bank gains, or loses if negative; 0 if left out. */
  toBalanceCents?: number;
}

/**
 * What a business's balance holds from now on, whatever moved before: to open an account, and for
 * balances that fixtures and people set by hand. It is no move, so it is not in the ledger.
 */
export interface BalanceStatement {
  id: string;
  kind: "statement";
  businessId: string;
  balanceCents: number;
}

/** What the service orders from its bank. */
export type BankOrder = BankMove | BalanceStatement;

/** A booked move; `id` is the bank's own, not the order's, and stays with the entry. */
export type LedgerEntry = Omit<BankMove, "toBalanceCents">;

/** A move that the bank refused to book, and why. */
export interface RefusedMove {
  moveId: string;
  reason: string;
}

/** The figures on which both sides must agree. */
export interface BankBooks {
  totals: LedgerTotals;
  /** Cents of each business's balance. */
  balances: Record<string, number>;
}

/** Entries and cents per kind. */
export type LedgerTotals = Partial<Record<MoveKind, { entries: number; amountCents: number }>>;

/**
 * A request from the service to its bank; each is answered once, in order. Each names the ledger
 * that it is meant for: after a reset, the first request with the new name starts that ledger.
 */
export type BankRequest = { id: number; ledgerId: string } & BankQuestion;

export type BankQuestion =
  | { op: "apply"; orders: BankOrder[] }
  | { op: "entries"; afterSeq: number; limit: number }
  | { op: "books" };

export type BankAnswer =
  | { id: number; op: "apply"; refusals: RefusedMove[] }
  | { id: number; op: "entries"; entries: LedgerEntry[]; lastSeq: number }
  | ({ id: number; op: "books" } & BankBooks)
  | { id: number; op: "error"; message: string };
