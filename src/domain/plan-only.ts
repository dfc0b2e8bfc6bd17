import type { LineState } from "../contracts/pay-run.ts";
import type { PayRunPlaybook } from "../contracts/playbook.ts";
import { type BillSum, counted } from "./counted.ts";
import { formatUsd } from "./money.ts";

/** Reason code of a line that was only planned. */
export const PLAN_ONLY = "plan-only";

/** Why nothing is asked, claimed or sent, as a part of a sentence. */
export const ONLY_PLANS = "its playbook's schedule only plans (mode: plan-only)";

/** Whether runs under this playbook, whoever launches them, plan and tell and do nothing else. */
export function onlyPlans({ schedule }: Pick<PayRunPlaybook, "schedule">): boolean {
  return schedule?.mode === "plan-only";
}

/**
 * The state in which people are shown a line. One that was only planned is stored as skipped, an
 * end, so that nothing that acts on open lines ever finds it.
 */
export function shownState(state: LineState): LineState {
  return state === "skipped" ? "planned" : state;
}

/** What a run that only plans has to tell. */
export function wouldHavePaid({ count, cents }: BillSum): string {
  const what = count === 0 ? "nothing" : `${counted(count, "bill")}, ${formatUsd(cents)}`;
  return `would have paid ${what}; nothing is sent, since this schedule only plans`;
}
