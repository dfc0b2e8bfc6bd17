/**
 * What moved: `debit` takes from the payer, `credit` gives to the payee, `return` takes the credit
 * back from the payee (or, without a credit, gives the debit back to the payer), `refund` gives the
 * debit back to the payer after its credit was returned or before there was one.
 */
export type MoveKind = "debit" | "credit" | "return" | "refund";

/** One move of money, as the service orders it and the bank books it. */
export interface BankMove {
  /** The service's id of this order; the bank books an id once, however often it is sent. */
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
  /** What the business's balance at the bank gains, or loses where it is negative; none if left out. */
  toBalanceCents?: number;
}

/**
 * What a business's balance holds from now on, whatever moved before: how an account is opened, and
 * what fixtures and people set by hand. It is no move, so it is not in the ledger.
 */
export interface BalanceStatement {
  id: string;
  kind: "statement";
  businessId: string;
  balanceCents: number;
}

/** What the service orders from its bank. */
export type BankOrder = BankMove | BalanceStatement;

/** A booked move; `id` is the bank's own and stays with the entry. */
export type LedgerEntry = Omit<BankMove, "toBalanceCents">;

/** A move the bank would not book, and why. */
export interface Refusal {
  moveId: string;
  reason: string;
}

/** What both sides must agree on. */
export interface BankBooks {
  totals: LedgerTotals;
  /** Cents of each business's balance. */
  balances: Record<string, number>;
}

/** Entries and cents per kind. */
export type LedgerTotals = Partial<Record<MoveKind, { entries: number; amountCents: number }>>;

/**
 * What the service asks its bank; every request is answered once, in order. Each names the ledger
 * it means: after a reset the first request with the new name starts that ledger.
 */
export type BankRequest = { id: number; ledgerId: string } & BankQuestion;

export type BankQuestion =
  | { op: "apply"; orders: BankOrder[] }
  | { op: "entries"; afterSeq: number; limit: number }
  | { op: "books" };

export type BankAnswer =
  | { id: number; op: "apply"; refusals: Refusal[] }
  | { id: number; op: "entries"; entries: LedgerEntry[]; lastSeq: number }
  | ({ id: number; op: "books" } & BankBooks)
  | { id: number; op: "error"; message: string };
