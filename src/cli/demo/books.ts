import type { RunStatus } from "../../api/runs.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import type { BankEntry } from "../client/sandbox-control.ts";

/** The bank's ledger compared with Payrun's own books. */
export interface Books {
  readonly bankBills: number;
  readonly bankCents: number;
  readonly payrunBills: number;
  readonly payrunCents: number;
  readonly differenceCents: number;
  readonly paidTwice: number;
}

/**
 * Compares what the bank has moved to vendors with what Payrun reports as settled.
 *
 * @param ledger every movement of money at the bank
 * @param paymentsBefore payments that existed before the run, which it didn't make
 */
export function compareBooks(
  run: RunStatus,
  ledger: readonly BankEntry[],
  paymentsBefore: ReadonlySet<string>,
): Books {
  const net = netCredits(
    ledger.filter(({ paymentId }) => paymentId !== null && !paymentsBefore.has(paymentId)),
  );
  const paid = [...net].filter(([, cents]) => cents !== 0);
  const settled = run.payments.filter(({ state }) => state === "settled");
  const owed = new Map(run.payments.map((line) => [line.payableId, line.amountCents]));
  const bankCents = sumCents(paid.map(([, cents]) => cents));
  const payrunCents = sumCents(settled.map(({ amountCents }) => amountCents));
  return {
    bankBills: paid.length,
    bankCents,
    payrunBills: settled.length,
    payrunCents,
    differenceCents: bankCents - payrunCents,
    paidTwice: paid.filter(([payableId, cents]) => cents > (owed.get(payableId) ?? 0)).length,
  };
}

/**
 * Returns what the vendor of each payable received: credits less the returns of credits. A return
 * without a credit gave a debit back to the payer.
 */
function netCredits(ledger: readonly BankEntry[]): Map<string, number> {
  const credited = new Set(
    ledger.filter(({ kind }) => kind === "credit").map(({ paymentId }) => paymentId),
  );
  const net = new Map<string, number>();
  for (const { kind, paymentId, payableId, amountCents } of ledger) {
    if (payableId === null || !credited.has(paymentId)) continue;
    const sign = kind === "credit" ? 1 : kind === "return" ? -1 : 0;
    net.set(payableId, (net.get(payableId) ?? 0) + sign * amountCents);
  }
  return net;
}

/** Returns the closing line. */
export function booksLine(books: Books): string {
  const bank = `${books.bankBills} bills, ${formatUsd(books.bankCents)} net`;
  const payrun = `${books.payrunBills} bills, ${formatUsd(books.payrunCents)}`;
  return `Bank ledger: ${bank}. Payrun: ${payrun}. Difference ${formatUsd(books.differenceCents)}. Paid twice: ${books.paidTwice}`;
}

export function booksAgree(books: Books): boolean {
  return (
    books.differenceCents === 0 && books.paidTwice === 0 && books.bankBills === books.payrunBills
  );
}
