/** What says whose a listed payment is. */
export interface ListedPayment {
  readonly id: string;
  /** Null if it names no bill, or if its bill can't be read: under a filter it is then the bill's. */
  readonly payableId: string | null;
}

/**
 * True if a payment that was listed for a bill names another one: the service doesn't know the
 * filter, or it lies.
 */
export function namesOther({ payableId }: ListedPayment, ofPayableId: string): boolean {
  return payableId !== null && payableId !== ofPayableId;
}

/**
 * Returns a bill's payments out of those that the service lists for it; the one place that decides
 * whose a listed payment is. One that names another bill is none of this bill's, so it neither pays
 * it nor makes it too much, unless Payrun itself made it for this bill.
 *
 * Must not be used to find out whether a request without a response has paid: its payment may be
 * shown with the name of another bill (`readingOf`).
 *
 * @param made ids of payments that Payrun made for this bill
 */
export function ofBill<P extends ListedPayment>(
  payableId: string,
  listed: readonly P[],
  made: Iterable<string>,
): readonly P[] {
  const ours = new Set(made);
  return listed.filter((payment) => !namesOther(payment, payableId) || ours.has(payment.id));
}
