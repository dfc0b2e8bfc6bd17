import { spokenDay } from "../clock/spoken.ts";

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

interface Told extends After {
  readonly asOf?: string | undefined;
  readonly availableCents: number | null;
}

/** True where it is known of all accounts that what they have now covers all bills of a plan. */
export function coversAll(accounts: readonly Told[]): boolean {
  const covers = (account: Told): boolean =>
    account.asOf === undefined && account.availableCents !== null && !isShort(account);
  return accounts.length > 0 && accounts.every(covers);
}

/** `when it was planned, Tue, Dec 1`: how old figures are that nobody tells of now. */
export function whenPlanned(asOf: string | number, zone?: string): string {
  return `when it was planned, ${spokenDay(asOf, zone)}`;
}
