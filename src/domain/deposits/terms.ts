import type { TopUpRule } from "../../contracts/playbook.ts";
import type { TopUpTerms } from "../../contracts/deposit.ts";
import { addBankingDays, bankingDayOnOrBefore } from "../clock/bank-calendar.ts";
import { addDays } from "../clock/dates.ts";
import { formatUsd, sumCents } from "../money.ts";

/** Business days of standard ACH; assumed if the service doesn't say that it is faster. */
export const STANDARD_DAYS = 3;
/** Business days of same-day ACH after its cut-off. */
export const SAME_DAY_DAYS = 1;

export interface ShortageInput {
  readonly rule: TopUpRule;
  /** Sums of the bills without money, by execution date. */
  readonly needs: readonly { readonly date: string; readonly cents: number }[];
  /** The available amount minus other reservations; negative if more is reserved than available. */
  readonly leftCents: number;
  /** Largest deposit that same-day ACH takes; 0 if none. */
  readonly sameDayCents: number;
  /** Date in New York. */
  readonly today: string;
}

export type Shortage =
  | { readonly kind: "covered" }
  /** More is missing than the playbook lets people deposit. */
  | { readonly kind: "above-limit"; readonly shortCents: number }
  | { readonly kind: "short"; readonly terms: TopUpTerms };

const SHORT_BY = "The balance is short by ";

/** Returns the warning of a plan that is short of money and proposes no deposit. */
export function shortWarning(shortCents: number, why: string): string {
  return `${SHORT_BY}${formatUsd(shortCents)}, and ${why}`;
}

/** True for a warning that a deposit would resolve. */
export function isShortWarning(warning: string): boolean {
  return warning.startsWith(SHORT_BY);
}

/**
 * Computes the deposit that covers the bills for which the balance is short, and the day by which
 * it must be made.
 *
 * A payment is scheduled for tomorrow at the earliest (API specification, section 8), so the money
 * must be there the day before the first payment that needs it.
 */
export function judgeShortage(input: ShortageInput): Shortage {
  const { rule, leftCents, today } = input;
  const needs = input.needs.toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  const shortCents = sumCents(needs.map(({ cents }) => cents)) - leftCents;
  const neededOn = firstUncovered(needs, leftCents);
  if (shortCents <= 0 || neededOn === undefined) return { kind: "covered" };
  if (shortCents > rule.atMostCents) return { kind: "above-limit", shortCents };
  const days = daysUnderWay(input, shortCents);
  const latest = addBankingDays(bankingDayOnOrBefore(addDays(neededOn, -1)), -days);
  const late = latest < today;
  const makeBy = late ? today : latest;
  const arrivesOn = addBankingDays(makeBy, days);
  return {
    kind: "short",
    terms: { amountCents: shortCents, neededOn, makeBy, arrivesOn, late },
  };
}

function daysUnderWay({ rule, sameDayCents }: ShortageInput, amountCents: number): number {
  return rule.arrivalBusinessDays ?? (amountCents <= sameDayCents ? SAME_DAY_DAYS : STANDARD_DAYS);
}

function firstUncovered(needs: ShortageInput["needs"], leftCents: number): string | undefined {
  let left = leftCents;
  return needs.find(({ cents }) => {
    left -= cents;
    return left < 0;
  })?.date;
}
