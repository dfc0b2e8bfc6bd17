/** How far money goes that doesn't cover all: to some bills, or to none. */
export type MoneyReach = "none" | "short";

/**
 * How far an account's money reaches for what an approval lets go out.
 *
 * @param leftCents what is left of it for bills that are not decided yet; null where nobody knows
 * @returns undefined where it covers all, or nobody can tell
 */
export function moneyReach(
  leftCents: number | null,
  { cents }: { readonly cents: number },
): MoneyReach | undefined {
  if (leftCents === null || cents <= Math.max(leftCents, 0)) return undefined;
  return leftCents <= 0 ? "none" : "short";
}

interface After {
  /** What all bills of a plan leave of the account, with what was deposited for them since. */
  readonly afterCents: number | null;
  readonly onItsWayCents?: number | undefined;
}

/** What bills leave of the money that is there: what is on its way pays nothing yet. */
export function leftNowCents({ afterCents, onItsWayCents = 0 }: After): number | null {
  return afterCents === null ? null : afterCents - onItsWayCents;
}

/** True of an account that all bills of a plan together leave nothing of. */
export function isShort(account: After): boolean {
  return (leftNowCents(account) ?? 0) < 0;
}
