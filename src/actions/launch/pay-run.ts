import type { BusinessProfile } from "../../config/business-profile.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { periodAt } from "../../domain/clock/schedule-period.ts";
import { launchStored } from "../../store/runs/launch-in-trail.ts";
import type { ActionContext } from "../context.ts";
import { WORKFLOW_KINDS } from "../../contracts/workflow-kinds.ts";
import { startWorkflow } from "../temporal.ts";
import type { Launcher } from "./launcher.ts";

/**
 * Writes the run's row, or finds the one of the same business, playbook and period, and starts the
 * run.
 */
export const launchPayRun: Launcher<PayRunPlaybook> = async (
  context,
  { request, playbook, revision, profile, by },
) => {
  const period = await periodOf(context, profile, playbook, request.period);
  const { runId, created, run } = await context.store.transactionOf(
    profile.businessId,
    (trx) =>
      launchStored(trx, {
        businessId: profile.businessId,
        business: profile.name,
        playbook: request.playbook,
        playbookRevision: revision,
        policy: playbook,
        period,
        inputs: request.inputs ?? {},
        launchedBy: by.name,
        launchedByTokenId: by.tokenId,
        nowMs: context.nowMs(),
        once: request.once === true,
      }),
    // The period as it was asked for: a repeat tomorrow is about the same run.
    { part: request.period ?? "" },
  );
  await startWorkflow(context.temporal, WORKFLOW_KINDS.payRun, {
    runId,
    business: profile.name,
    playbook: request.playbook,
    period: run.period,
    launchedBy: by.name,
  });
  return { runId, created };
};

/** Returns the period of a launch or a plan, on the business clock. */
export async function periodOf(
  context: Pick<ActionContext, "clocks">,
  profile: BusinessProfile,
  playbook: PayRunPlaybook,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined) return asked;
  const { businessMs } = await context.clocks.read(profile);
  return periodAt(playbook.schedule, businessMs);
}
