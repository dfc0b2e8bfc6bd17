import type { ActionContext } from "../actions/context.ts";
import { mayApproveTopUp } from "../actions/decide.ts";
import type { Principal } from "../actions/principal.ts";
import type { WaitingDeposit } from "../api/overview.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { principalOf } from "../contracts/principal.ts";
import { topUpApproved } from "../store/deposits/deposit-approvals.ts";
import { proposedTopUps } from "../store/deposits/deposits.ts";
import { getRun } from "../store/runs/runs.ts";
import { topUpJson } from "./status/deposit.ts";

/**
 * Returns deposits of a business's runs that wait for an approval, as one person sees them, the
 * nearest day first. The deposit of an account that bounced is decided with its incident.
 */
export async function waitingDeposits(
  context: Pick<ActionContext, "store" | "profiles">,
  { businessId }: BusinessProfile,
  principal: Principal,
  businessMs: number,
): Promise<WaitingDeposit[]> {
  const { db } = context.store;
  const waiting: WaitingDeposit[] = [];
  for (const topUp of await proposedTopUps(db, businessId)) {
    const run = await getRun(db, topUp.owner);
    if (run === undefined || (await topUpApproved(db, topUp, businessMs))) continue;
    if (ENDED_PHASES.includes(run.phase)) continue;
    const shown = await topUpJson(db, topUp, businessMs);
    const isGiven = shown.approvedBy.includes(principalOf(principal.name));
    waiting.push({
      ...shown,
      runId: run.runId,
      business: run.business,
      playbook: run.playbook,
      period: run.period,
      planHash: run.planHash,
      yours: !isGiven && (await mayApproveTopUp(context, run, topUp, principal)),
    });
  }
  return waiting.toSorted((one, other) => one.makeBy.localeCompare(other.makeBy));
}
