import { WEEKDAYS, type FailureRule } from "../../contracts/playbook.ts";
import { isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { addDays, isoWeekday } from "../clock/dates.ts";
import { approvalEnd } from "./approval.ts";
import type { RuledFailure } from "./policy.ts";

/** The facts of a failure that decide the next step. */
export interface FailureFacts {
  readonly failed: RuledFailure;
  readonly whose: "payer" | "payee" | "unknown";
  /** True if every payment of the line failed or was returned. */
  readonly isWhole: boolean;
  readonly retriesMade: number;
  /** `YYYY-MM-DD` in New York: the earliest day on which the first payment can have settled. */
  readonly firstSettledOn: string;
  /** New York date on which a request made now arrives. */
  readonly today: string;
  /** Why nothing is retried automatically, regardless of the rule; null if it may be. */
  readonly stopped: string | null;
}

export type FailureStep =
  /** `date` is the execution date; the request is made on the banking day before. */
  | { readonly kind: "retry-on"; readonly date: string; readonly ofAtMost: number }
  | { readonly kind: "wait-for-incident" }
  | { readonly kind: "wait-for-funds" }
  | {
      readonly kind: "park";
      readonly code: string | null;
      /** One sentence; null if the code's meaning says enough. */
      readonly why: string | null;
      readonly pause: boolean;
      readonly holdVendor: boolean;
      /** True if it is not known yet whose account it concerns. */
      readonly undecided: boolean;
    };

/** Decides the step after a failure: by its playbook's rule, within Nacha's limits. */
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
  // The bank refuses our own account, not the vendor's: one decision covers all its payments.
  if (rule.action === "hold-vendor" && isOurs) {
    return facts.stopped === null ? { kind: "wait-for-incident" } : park(facts.stopped);
  }
  if (rule.action !== "retry") return park(null);
  if (!facts.isWhole) return park("A part is not paid again by itself.", "partly-failed");
  if (facts.stopped !== null) return park(facts.stopped);
  const { retriesMade, firstSettledOn } = facts;
  const date = retryDate(rule, facts.today);
  const end = approvalEnd({ codes: [code], retriesMade, firstSettledOn, runsOn: date });
  if (end !== null) return park(end.reason);
  const { atMost } = rule;
  if (retriesMade >= atMost) {
    return park(`Retried ${retriesMade} times, which is all that the playbook allows.`);
  }
  if (rule.when === "when-released") return { kind: "wait-for-incident" };
  if (rule.when === "when-funds-arrive") return { kind: "wait-for-funds" };
  return { kind: "retry-on", date, ofAtMost: atMost };
}

/**
 * Returns the execution date of the next try: by the rule, or the earliest one if the rule waits
 * for something else. A request sent today executes on the next banking day at the earliest.
 */
export function retryDate({ when }: FailureRule, today: string): string {
  const next = nextBankingDay(today);
  const weekday = WEEKDAYS.findIndex((day) => day === when);
  if (weekday < 0) return next;
  let date = addDays(today, 1);
  while (isoWeekday(date) !== weekday + 1) date = addDays(date, 1);
  return isBankingDay(date) ? date : nextBankingDay(date);
}
