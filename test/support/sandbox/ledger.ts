export interface LedgerEntry {
  id: string;
  at: string;
  kind: "debit" | "credit" | "return" | "refund";
  paymentId: string | null;
  transactionId: string | null;
  payableId: string | null;
  businessId: string;
  amountCents: number;
}

/**
 * Returns the entries that the payer's bank wrote: money that a payee gives back reaches the payer
 * as a refund.
 */
export function entriesOfPayer(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  const reached = new Set(
    ledger.flatMap(({ kind, paymentId }) => (kind === "credit" ? [paymentId] : [])),
  );
  return ledger.filter(({ kind, paymentId }) =>
    kind === "return" ? !reached.has(paymentId) : kind !== "credit",
  );
}

/**
 * Returns what each payable's payees have got, in cents, from a ledger: credits less the returns of
 * credits. A return without a credit gave a debit back to the payer and does not count.
 */
export function netCreditByPayable(ledger: readonly LedgerEntry[]): Map<string, number> {
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
