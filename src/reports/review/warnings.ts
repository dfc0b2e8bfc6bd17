import type { RunReview } from "../../api/review.ts";
import type { PlanSummary } from "../../contracts/pay-run.ts";
import { OPEN_TOP_UP_STATES, type TopUpState } from "../../contracts/deposit.ts";
import { coversAll, whenPlanned } from "../../domain/approvals/money-reach.ts";
import { isShortWarning } from "../../domain/deposits/terms.ts";
import { isNoPayment } from "../../domain/funding-source.ts";
import type { TopUp } from "../../store/deposits/deposits.ts";
import type { StandingNow } from "./money-now.ts";

/**
 * States of a deposit that the run asks for or has: then the plan's warning that there is none is
 * outdated.
 */
const MAKES_GOOD: readonly TopUpState[] = [...OPEN_TOP_UP_STATES, "completed"];

/**
 * Warning about what an account has for a run: what a restored store has lost is not counted as
 * promised.
 */
const NOT_SUBTRACTED =
  "The store is older than what was done with it: payments that it has lost are not subtracted from what an account has.";

/** Returns the plan's warnings that still apply, and those about accounts that can't pay now. */
export function warningsOf({
  topUps,
  now,
  accounts,
  planned,
  zone,
  storeBehind,
}: {
  readonly planned: {
    readonly summary: Pick<PlanSummary, "warnings"> | undefined;
    /** Business-clock instant. */
    readonly plannedMs: number | undefined;
  };
  readonly topUps: readonly TopUp[];
  /** Undefined if the service doesn't say. */
  readonly now: StandingNow | undefined;
  readonly accounts: RunReview["accounts"];
  readonly zone: string;
  /** True if the store may lack payments that the service has. */
  readonly storeBehind: boolean;
}): string[] {
  const isMadeGood =
    topUps.some(({ state }) => MAKES_GOOD.includes(state)) ||
    (now !== undefined && coversAll(accounts));
  const still = (planned.summary?.warnings ?? []).flatMap((text) => {
    if (isShortWarning(text)) {
      if (isMadeGood) return [];
      return now === undefined
        ? text
        : `As of ${whenPlanned(planned.plannedMs ?? 0, zone)}: ${text}`;
    }
    return now !== undefined && isNoPayment(text) ? [] : text;
  });
  const tellsMoney = accounts.some(({ availableCents }) => availableCents !== null);
  const behind = storeBehind && tellsMoney ? [NOT_SUBTRACTED] : [];
  return [...new Set([...still, ...(now?.whyNot ?? []), ...behind])];
}
