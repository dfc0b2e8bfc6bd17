import type { PayFields } from "../../contracts/pay-run.ts";
import { reachesAccount } from "./rails.ts";

/** The fields of a payment that must match the approval. */
interface MadePayment {
  readonly amountCents: number;
  readonly paymentRail: string | null;
  readonly bankAccountId: string | null;
}

export interface ApprovedTerms {
  readonly amountCents: number;
  readonly funding: {
    readonly rail: string;
    readonly kind: string;
    readonly pay: PayFields;
  };
}

/**
 * Says how the payments of a request differ from what was approved; null if they don't.
 *
 * The specification doesn't say that a payment spells its rail as its source does, nor which
 * account a payment from the balance shows. So only a difference that can't be a spelling counts.
 */
export function mismatchOf(
  approved: ApprovedTerms,
  payments: readonly MadePayment[],
): string | null {
  const { amountCents, funding } = approved;
  const sum = payments.reduce((total, payment) => total + payment.amountCents, 0);
  if (sum !== amountCents) return `they sum to ${sum} cents, approved were ${amountCents}`;
  const rails = [funding.rail, funding.pay.paymentRail];
  const otherRail = payments.find(
    ({ paymentRail }) => reachesAccount(paymentRail) && !rails.includes(paymentRail ?? ""),
  );
  if (otherRail !== undefined) {
    return `their rail is ${String(otherRail.paymentRail)}, approved was ${funding.rail}`;
  }
  const account = funding.pay.bankAccountId;
  if (funding.kind === "balance" || account === undefined) return null;
  return payments.some(({ bankAccountId }) => bankAccountId !== null && bankAccountId !== account)
    ? "they debit another bank account than the approved one"
    : null;
}
