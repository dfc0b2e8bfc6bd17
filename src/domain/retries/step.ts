import { WEEKDAYS, type FailureRule } from "../../contracts/playbook.ts";
import { addBankingDays, isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { addDays, isoWeekday } from "../clock/dates.ts";
import { isReinitiable, REINITIATIONS_MAX } from "../payments/failure-policy.ts";
import { REINITIATION_DAYS, type RuledFailure } from "./policy.ts";

/** What is known of a failure when its owner decides what comes next. */
export interface FailureFacts {
  readonly failed: RuledFailure;
  readonly whose: "payer" | "payee" | "unknown";
  /** True where everything that was sent came back. */
  readonly isWhole: boolean;
  readonly retriesMade: number;
  /** `YYYY-MM-DD` in New York: day of the first payment, or null where nobody says. */
  readonly firstPaidOn: string | null;
  readonly today: string;
  /** Why nothing is tried again by itself, whatever the rule says; or null. */
  readonly stopped: string | null;
}

export type FailureStep =
  | { readonly kind: "retry-on"; readonly date: string; readonly ofAtMost: number }
  | { readonly kind: "wait-for-incident" }
  | { readonly kind: "wait-for-funds" }
  | {
      readonly kind: "park";
      readonly code: string | null;
      /** A sentence, or null where what the code means says enough. */
      readonly why: string | null;
      readonly pause: boolean;
      readonly holdVendor: boolean;
      /** True where nothing tells yet whose account it is about. */
      readonly undecided: boolean;
    };

/** What a failure asks for, by its playbook's rule and never beyond Nacha's limits. */
export function stepAfterFailure(facts: FailureFacts): FailureStep {
  const { failed, whose } = facts;
  const { rule, code } = failed;
  const isOurs = whose === "payer";
  const park = (why: string | null, name: string | null = code): FailureStep => ({
    kind: "park",
    code: name,
    why,
    pause: isOurs && (rule.pause || rule.action === "hold-vendor"),
    holdVendor: rule.action === "hold-vendor" && !isOurs,
    undecided: rule.action === "hold-vendor" && whose === "unknown",
  });
  if (rule.action === "hold-vendor" && whose === "unknown") {
    return park("It may be our account or the vendor's: check both.");
  }
  // It is our own account that the bank refuses, not the vendor's: one decision for all of it.
  if (rule.action === "hold-vendor" && isOurs) {
    return facts.stopped === null ? { kind: "wait-for-incident" } : park(facts.stopped);
  }
  if (rule.action !== "retry") return park(null);
  if (!facts.isWhole) return park("Only a part failed; a person decides.", "partly-failed");
  if (facts.stopped !== null) return park(facts.stopped);
  const atMost = Math.min(rule.atMost, isReinitiable(code) ? REINITIATIONS_MAX : 0);
  if (facts.retriesMade >= atMost) {
    const all =
      atMost === REINITIATIONS_MAX ? "that Nacha's rules allow" : "that the playbook allows";
    return park(`Retried ${facts.retriesMade} times, which is all ${all}.`);
  }
  const date = retryDate(rule, facts.today);
  if (isTooLate(facts.firstPaidOn, date)) return park(TOO_LATE);
  if (rule.when === "when-released") return { kind: "wait-for-incident" };
  if (rule.when === "when-funds-arrive") return { kind: "wait-for-funds" };
  return { kind: "retry-on", date, ofAtMost: atMost };
}

export const TOO_LATE = `Nacha's rules end reinitiations ${REINITIATION_DAYS} days after the settlement.`;

/** True where a reinitiation on a date would come too late for Nacha. */
export function isTooLate(firstPaidOn: string | null, date: string): boolean {
  return firstPaidOn !== null && date > addDays(firstPaidOn, REINITIATION_DAYS);
}

/** The banking day of the next try, by the rule; for what waits for something else the earliest. */
function retryDate({ when }: FailureRule, today: string): string {
  const next = addBankingDays(today, 1);
  const weekday = WEEKDAYS.findIndex((day) => day === when);
  if (weekday < 0) return next;
  let date = addDays(today, 1);
  while (isoWeekday(date) !== weekday + 1) date = addDays(date, 1);
  return isBankingDay(date) ? date : nextBankingDay(date);
}
