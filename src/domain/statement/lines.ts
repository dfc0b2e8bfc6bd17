import { dayOfInstant, namedDay } from "../clock/named-day.ts";
import { codesIn, failureWords } from "../payments/failure-policy.ts";

/** A line that a run's money leaves on an account's statement. */
export interface StatementLine {
  /** `YYYY-MM-DD` in New York; empty if unknown. */
  readonly date: string;
  readonly entry: "debit" | "return" | "refund" | "deposit" | "deposit-returned";
  /** `BALANCE`, or the id of the bank account. */
  readonly account: string;
  /** Negative if it left the account. */
  readonly cents: number;
  /** A remark; empty if there is none. */
  readonly note: string;
}

/** The balance that the service holds, as an account. */
export const BALANCE = "balance";

/** The fields of a payment that its statement lines depend on. */
export interface StatementPayment {
  readonly status: string;
  readonly amountCents: number;
  readonly scheduledAt: string | null;
  readonly processedAt: string | null;
  readonly updatedAt: string | null;
  readonly failureReason: string | null;
}

/**
 * Returns the statement lines of a payment in the payer's account: its debit, and a line for money
 * that came back. A payment that never reached the bank has none. The service holds a payment
 * before it debits the balance and cancels it at that stage, so the balance has no line of a held
 * or refunded payment.
 *
 * @param account the account that pays: `BALANCE`, or a bank account's id
 */
export function paymentLines(
  payment: StatementPayment,
  account: string,
  executionDate: string,
): StatementLine[] {
  const { status, amountCents, failureReason } = payment;
  const date = namedDay(payment.scheduledAt) ?? executionDate;
  const debit: StatementLine = { date, entry: "debit", account, cents: -amountCents, note: "" };
  const back = { account, date: dayOfInstant(payment.updatedAt) ?? date, cents: amountCents };
  switch (status) {
    case "completed":
      return [debit];
    case "processing":
      return [{ ...debit, note: "on its way; not settled yet" }];
    case "held": {
      if (account === BALANCE) return [];
      // A provider may hold a payment after the debit.
      const note = "held for review; the bank may have been debited";
      return [{ ...debit, note }];
    }
    case "failed":
      if (neverLeft(payment, date)) return [];
      return [debit, { ...back, entry: "return", note: failureReason ?? "" }];
    case "returned":
      return [debit, { ...back, entry: "return", note: failureReason ?? "" }];
    case "refund_pending":
      return [{ ...debit, note: "a refund is on its way" }];
    case "refunded": {
      if (account === BALANCE) return [];
      const note = "may have gone into the balance instead";
      return [debit, { ...back, entry: "refund", note }];
    }
    default:
      return [];
  }
}

/**
 * True if a payment failed before the bank received it, as happens if the balance is empty on its
 * date. No field says so, but a bank responds on a later day, and with a code.
 */
function neverLeft(payment: StatementPayment, date: string): boolean {
  const failedOn = dayOfInstant(payment.updatedAt) ?? "";
  const named = codesIn(failureWords(payment.failureReason ?? ""));
  const isByTheBank = payment.processedAt !== null || named.length > 0;
  return !isByTheBank && failedOn !== "" && failedOn <= date;
}

/** A deposit as the service shows it now, or as Payrun knew it if the service doesn't show it. */
export interface StatementDeposit {
  readonly stands: "on-its-way" | "completed" | "failed" | "returned";
  readonly amountCents: number;
  readonly bankAccountId: string;
  readonly madeOn: string;
  /** Date on which it reached the balance; empty if it didn't. */
  readonly arrivedOn: string;
  /** Date of its last change; if it came back, the date of that. */
  readonly changedOn: string;
  readonly reason: string;
}

/**
 * Returns the statement lines of a deposit in both accounts: a debit of the bank account, a credit
 * of the balance once it has arrived, and the reverse of both if the bank took it back.
 */
export function depositLines(deposit: StatementDeposit): StatementLine[] {
  const { stands, amountCents, bankAccountId: account, changedOn, reason } = deposit;
  const out: StatementLine = {
    date: deposit.madeOn,
    entry: "debit",
    account,
    cents: -amountCents,
    note: "deposit into the balance",
  };
  const arrived: StatementLine = {
    date: deposit.arrivedOn,
    entry: "deposit",
    account: BALANCE,
    cents: amountCents,
    note: "",
  };
  const back: StatementLine = {
    date: changedOn,
    entry: "return",
    account,
    cents: amountCents,
    note: reason,
  };
  switch (stands) {
    case "on-its-way":
      return [{ ...out, note: "deposit into the balance (on its way)" }];
    case "completed":
      return [out, arrived];
    case "failed":
      return [out, back];
    case "returned": {
      const taken = { entry: "deposit-returned", account: BALANCE, cents: -amountCents } as const;
      return [out, arrived, back, { ...taken, date: changedOn, note: reason }];
    }
  }
}
