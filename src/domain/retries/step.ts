import { WEEKDAYS, type FailureRule } from "../../contracts/playbook.ts";
import { isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { addDays, isoWeekday } from "../clock/dates.ts";
import { approvalEnd } from "./approval.ts";
import type { RuledFailure } from "./policy.ts";

/** What is known of a failure when its owner decides what comes next. */
export interface FailureFacts {
  readonly failed: RuledFailure;
  readonly whose: "payer" | "payee" | "unknown";
  /** True where everything that was sent came back. */
  readonly isWhole: boolean;
  readonly retriesMade: number;
  /** `YYYY-MM-DD` in New York: the earliest day on which the first payment can have settled. */
  readonly firstSettledOn: string;
  /** Day in New York on which a request that is made now arrives. */
  readonly today: string;
  /** Why nothing is tried again by itself, whatever the rule says; or null. */
  readonly stopped: string | null;
}

export type FailureStep =
  /** `date` is the day on which the payment runs; its request is made the banking day before. */
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
 * The banking day on which the next try runs, by the rule; for what waits for something else the
 * earliest. What is sent today runs on the next banking day at the soonest.
 */
export function retryDate({ when }: FailureRule, today: string): string {
  const next = nextBankingDay(today);
  const weekday = WEEKDAYS.findIndex((day) => day === when);
  if (weekday < 0) return next;
  let date = addDays(today, 1);
  while (isoWeekday(date) !== weekday + 1) date = addDays(date, 1);
  return isBankingDay(date) ? date : nextBankingDay(date);
}
