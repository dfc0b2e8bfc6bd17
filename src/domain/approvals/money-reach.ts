import { spokenDay } from "../clock/spoken.ts";

/** How far money reaches that doesn't cover all bills: to none of them, or to some. */
export type MoneyReach = "none" | "short";

/**
 * Judges how far money reaches for the bills that an approval lets go out.
 *
 * @param leftCents the money left for bills that are not decided yet; null if unknown
 * @returns undefined if it covers all of them, or if that is unknown
 */
export function moneyReach(
  leftCents: number | null,
  { cents }: { readonly cents: number },
): MoneyReach | undefined {
  if (leftCents === null || cents <= Math.max(leftCents, 0)) return undefined;
  return leftCents <= 0 ? "none" : "short";
}

interface After {
  /**
   * What all bills of a plan leave in the account, with the deposits made for them since; null if
   * unknown.
   */
  readonly afterCents: number | null;
  readonly onItsWayCents?: number | undefined;
}

/**
 * Returns what the bills leave of the money that is there; null if unknown. Deposits on their way
 * don't count, because they pay nothing yet.
 */
export function leftNowCents({ afterCents, onItsWayCents = 0 }: After): number | null {
  return afterCents === null ? null : afterCents - onItsWayCents;
}

/** True if an account is known not to cover all bills of a plan together. */
export function isShort(account: After): boolean {
  return (leftNowCents(account) ?? 0) < 0;
}

interface Told extends After {
  readonly asOf?: string | undefined;
  readonly availableCents: number | null;
}

/** True if every account is known to cover all bills of a plan with the money that it has now. */
export function coversAll(accounts: readonly Told[]): boolean {
  const covers = (account: Told): boolean =>
    account.asOf === undefined && account.availableCents !== null && !isShort(account);
  return accounts.length > 0 && accounts.every(covers);
}

/** Says how old figures are if no current ones are known: `when it was planned, Tue, Dec 1`. */
export function whenPlanned(asOf: string | number, zone?: string): string {
  return `when it was planned, ${spokenDay(asOf, zone)}`;
}
