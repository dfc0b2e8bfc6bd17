import { counted } from "../counted.ts";
import { WEEKDAYS, type FailureRule } from "../../contracts/playbook.ts";
import type { LineReason } from "../../contracts/reason-codes.ts";
import { isBankingDay, nextBankingDay } from "../clock/bank-calendar.ts";
import { addDays, isoWeekday } from "../clock/dates.ts";
import { debitRefusedBy, isReinitiable } from "../payments/return-codes.ts";
import { approvalEnd } from "./approval.ts";
import type { RuledFailure } from "./policy.ts";

/** The facts of a failure that decide the next step. */
export interface FailureFacts {
  readonly failed: RuledFailure;
  readonly whose: "payer" | "payee" | "unknown";
  /** Payments of the account and day that came back with this code, its own included. */
  readonly returnsOfDay: number;
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

/** What a failure puts on hold: the funding account, the vendor, or the bill alone. */
export type Held = "account" | "vendor" | "bill" | null;

export type FailureStep =
  /** `date` is the execution date; the request is made on the banking day before. */
  | { readonly kind: "retry-on"; readonly date: string; readonly ofAtMost: number }
  | { readonly kind: "wait-for-incident" }
  | { readonly kind: "wait-for-funds" }
  | {
      readonly kind: "park";
      readonly code: LineReason | null;
      /** One sentence; null if the code's meaning says enough. */
      readonly why: string | null;
      readonly hold: Held;
      /** True if it is not known yet whose account it concerns, or whether all of the account. */
      readonly undecided: boolean;
    };

/** Decides the step after a failure: by its playbook's rule, within Nacha's limits. */
export function stepAfterFailure(facts: FailureFacts): FailureStep {
  const { failed, whose } = facts;
  const { rule, code } = failed;
  const hold = heldAfter(facts);
  const undecided = isCauseOpen({ ...facts, code }, rule);
  const park = (why: string | null, name: LineReason | null = code): FailureStep => ({
    kind: "park",
    code: name,
    why,
    hold,
    undecided,
  });
  if (undecided) {
    return park(
      hold === "bill"
        ? "It may be about this payment alone."
        : "It may be our account or the vendor's: check both.",
    );
  }
  // The bank refuses our own account: one decision covers all its payments.
  if (isRefused(failed, whose)) {
    return facts.stopped === null ? { kind: "wait-for-incident" } : park(facts.stopped);
  }
  if (rule.action !== "retry") return park(null);
  if (!facts.isWhole) return park("A part is not paid again by itself.", "partly_failed");
  if (facts.stopped !== null) return park(facts.stopped);
  const { retriesMade, firstSettledOn } = facts;
  const date = nextTryDate(rule, facts.today);
  const end = approvalEnd({ codes: [code], retriesMade, firstSettledOn, runsOn: date });
  if (end !== null) return park(end.reason);
  const { atMost } = rule;
  if (retriesMade >= atMost) {
    return park(`Retried ${counted(retriesMade, "time")}, which is all that the playbook allows.`);
  }
  if (rule.when === "when-released") return { kind: "wait-for-incident" };
  if (rule.when === "when-funds-arrive") return { kind: "wait-for-funds" };
  return { kind: "retry-on", date, ofAtMost: atMost };
}

/**
 * Decides what a failure puts on hold. A bank that refuses our own account holds it under any rule,
 * and a refused debit never holds a vendor.
 */
export function heldAfter({
  failed,
  whose,
  returnsOfDay,
}: Pick<FailureFacts, "failed" | "whose" | "returnsOfDay">): Held {
  const { code, rule } = failed;
  if (whose !== "payer") {
    return rule.action === "hold-vendor" && debitRefusedBy(code) === null ? "vendor" : null;
  }
  if (isCauseOpen({ code, whose, returnsOfDay }, rule)) return "bill";
  return rule.pause || isRefused(failed, whose) ? "account" : null;
}

/** True if a return is about our own account, which another try doesn't mend. */
function isRefused({ code, rule }: RuledFailure, whose: FailureFacts["whose"]): boolean {
  if (whose !== "payer") return false;
  return rule.action === "hold-vendor" || (code !== null && !isReinitiable(code));
}

/**
 * True if the day's other payments may still show what a failure is about: whose account it is, or,
 * after a stop payment, whether one entry was stopped or all of the account.
 */
export function isCauseOpen(
  {
    code,
    whose,
    returnsOfDay,
  }: Pick<FailureFacts, "whose" | "returnsOfDay"> & { readonly code: string | null },
  { action }: FailureRule,
): boolean {
  const refuses = debitRefusedBy(code);
  if (refuses === "entry") return whose === "payer" && returnsOfDay < 2;
  return refuses === null && action === "hold-vendor" && whose === "unknown";
}

/**
 * Returns the execution date of the next try: by the rule, or the earliest one if the rule waits
 * for something else. A request sent today executes on the next banking day at the earliest.
 */
export function nextTryDate({ when }: FailureRule, today: string): string {
  const next = nextBankingDay(today);
  const weekday = WEEKDAYS.findIndex((day) => day === when);
  if (weekday < 0) return next;
  let date = addDays(today, 1);
  while (isoWeekday(date) !== weekday + 1) date = addDays(date, 1);
  return isBankingDay(date) ? date : nextBankingDay(date);
}
