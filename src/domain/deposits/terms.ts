import type { TopUpRule } from "../../contracts/playbook.ts";
import type { TopUpTerms } from "../../contracts/deposit.ts";
import { addBankingDays, bankingDayOnOrBefore } from "../clock/bank-calendar.ts";
import { addDays } from "../clock/dates.ts";
import { sumCents } from "../money.ts";

/** Standard ACH, as plans reckon with it; a service that says nothing is not taken to be faster. */
const STANDARD_DAYS = 3;
/** Same-day ACH after its cut-off. */
const SAME_DAY_DAYS = 1;

export interface ShortageInput {
  readonly rule: TopUpRule;
  /** What bills without money come to, by execution date. */
  readonly needs: readonly { readonly date: string; readonly cents: number }[];
  /** Available, less what is promised to others; below zero where more is promised than there is. */
  readonly leftCents: number;
  /** Largest deposit that goes by same-day ACH; 0 where none does. */
  readonly sameDayCents: number;
  /** Date in New York. */
  readonly today: string;
}

export type Shortage =
  | { readonly kind: "covered" }
  /** More is missing than the playbook lets anybody deposit. */
  | { readonly kind: "above-limit"; readonly shortCents: number }
  | { readonly kind: "short"; readonly terms: TopUpTerms };

/**
 * The deposit that would cover bills which the balance does not, and the day by which it must be
 * made.
 *
 * A payment is scheduled for tomorrow at the earliest (API specification, section 8), so the money
 * has to be there on the day before the first one that it is for.
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
