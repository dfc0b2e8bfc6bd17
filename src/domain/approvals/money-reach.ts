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

/** True of an account that all bills of a plan together leave nothing of. */
export function isShort({ afterCents }: { readonly afterCents: number | null }): boolean {
  return afterCents !== null && afterCents < 0;
}
