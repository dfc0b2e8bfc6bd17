import { sumCents } from "../money.ts";

export interface LookUpInput {
  /** Payments of the subject that were known before the attempt's first send. */
  readonly knownPaymentIds: readonly string[];
  /** What the attempt set out to pay. */
  readonly amountCents: number;
  /** Every payment the service shows for the subject now: all pages, no status or time filter. */
  readonly found: readonly { readonly id: string; readonly amountCents: number }[];
}

export type LookUpVerdict =
  /** The attempt was applied, as these payments. */
  | { readonly kind: "adopt"; readonly paymentIds: readonly string[] }
  /** Nothing new: not applied, as far as can be seen at this moment. */
  | { readonly kind: "none" }
  /** Something new that doesn't add up: wait until the window is over, then park. */
  | {
      readonly kind: "partial";
      readonly paymentIds: readonly string[];
      readonly foundCents: number;
    };

/** What a look-up says about an attempt whose answer is unknown (design, "Paying once"). */
export function judgeLookUp(input: LookUpInput): LookUpVerdict {
  const known = new Set(input.knownPaymentIds);
  const fresh = new Map<string, number>();
  for (const payment of input.found) {
    if (!known.has(payment.id)) fresh.set(payment.id, payment.amountCents);
  }
  if (fresh.size === 0) return { kind: "none" };
  const paymentIds = [...fresh.keys()];
  const foundCents = sumCents(fresh.values());
  if (foundCents === input.amountCents) return { kind: "adopt", paymentIds };
  return { kind: "partial", paymentIds, foundCents };
}
