/** Returns a vendor's bank account by its last digits; `none` if there is none. */
export function accountText(last4: string | null | undefined): string {
  return last4 == null ? "none" : `••${last4}`;
}

/** The fields of a vendor that say whether it may be paid as it was approved. */
export interface VendorNow {
  readonly displayName: string | null;
  readonly status: string;
  readonly paymentReady: boolean;
  readonly bankAccount: { readonly last4: string | null } | null;
  readonly updatedAt: string | null;
}

/** Returns why a vendor can't be paid now; null if it can. */
export function whyNotPayable({ displayName, status, paymentReady }: VendorNow): string | null {
  if (status === "active" && paymentReady) return null;
  return `${displayName ?? "The vendor"} can't be paid by ACH now: no valid bank account on file, or not active.`;
}

/** Says how a vendor differs from the one that was approved; null if it doesn't. */
export function vendorChange(
  plan: { readonly bankLast4: string | null; readonly contactUpdatedAt: string | null },
  { bankAccount, updatedAt }: Pick<VendorNow, "bankAccount" | "updatedAt">,
): string | null {
  const last4 = bankAccount?.last4 ?? null;
  if (last4 !== plan.bankLast4) {
    return `the vendor's bank account changed from ${accountText(plan.bankLast4)} to ${accountText(last4)}`;
  }
  return isSameInstant(updatedAt, plan.contactUpdatedAt) ? null : "the vendor's record was changed";
}

/** True for the same instant: a list and a record may write it in two ways (ISO 8601). */
function isSameInstant(one: string | null, other: string | null): boolean {
  if (one === other || one === null || other === null) return one === other;
  const [oneMs, otherMs] = [Date.parse(one), Date.parse(other)];
  return !Number.isNaN(oneMs) && oneMs === otherMs;
}
