import type { LineReason } from "../contracts/reason-codes.ts";
import type { LineState } from "../contracts/line-states.ts";
import type { PayRunPlaybook } from "../contracts/playbook.ts";
import { type BillSum, counted } from "./counted.ts";
import { formatUsd } from "./money.ts";

/** Reason code of a line that was only planned. */
export const PLAN_ONLY = "plan_only" satisfies LineReason;

/**
 * The reason why no approval is requested, and nothing is claimed or sent, as part of a sentence.
 */
export const ONLY_PLANS = "its playbook's schedule only plans (mode: plan-only)";

/** True if runs under this playbook only plan and report, regardless of the launcher. */
export function onlyPlans({ schedule }: Pick<PayRunPlaybook, "schedule">): boolean {
  return schedule?.mode === "plan-only";
}

/**
 * Returns the state that people see for a line. A line that was only planned is stored as skipped,
 * an end state, so that nothing that acts on open lines ever finds it.
 */
export function shownState(state: LineState): LineState {
  return state === "skipped" ? "planned" : state;
}

/** Says what a run that only plans would have paid. */
export function wouldHavePaid({ count, cents }: BillSum): string {
  const what = count === 0 ? "nothing" : `${counted(count, "bill")}, ${formatUsd(cents)}`;
  return `would have paid ${what}; nothing is sent, since this schedule only plans`;
}
