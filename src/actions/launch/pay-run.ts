import type { BusinessProfile } from "../../config/business-profile.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import {
  hasRun,
  nextPeriod,
  periodAt,
  periodBeginningOn,
} from "../../domain/clock/schedule-period.ts";
import { launchStored } from "../../store/runs/launch-in-trail.ts";
import { joinedRun } from "../../store/runs/runs.ts";
import type { ActionContext } from "../context.ts";
import { WORKFLOW_KINDS } from "../../contracts/workflow-kinds.ts";
import { startWorkflow } from "../temporal.ts";
import { unprocessable } from "../errors.ts";
import { type Launcher, type LaunchRequest, requireSameInputs } from "./launcher.ts";

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
    async (trx) => {
      const asked = {
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
      };
      // Whoever launched the run that is joined has said which period they meant.
      if ((await joinedRun(trx, asked)) === undefined) requirePeriod(request, playbook);
      const launched = await launchStored(trx, asked);
      if (!launched.created) requireSameInputs(request, launched.run.runId, launched.run.inputs);
      return launched;
    },
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

/**
 * Checks that a playbook's schedule has the period that is asked for: a typing error would claim
 * bills for a run that nobody expects.
 *
 * @throws GatewayError 422 with the nearest periods
 */
function requirePeriod(
  { period, force, playbook: name }: LaunchRequest,
  { schedule }: PayRunPlaybook,
): void {
  if (period === undefined || schedule === null || force === true) return;
  if (hasRun(schedule, period)) return;
  const begun = periodBeginningOn(schedule, period);
  const next = nextPeriod(schedule, period);
  const meant =
    begun !== null
      ? ` The run that begins on that day is the one of ${begun}.`
      : next === null
        ? ""
        : ` The next one after it is ${next}.`;
  throw unprocessable(
    "not_a_period",
    `${period} is not a date of the schedule of ${name}.${meant} To launch a run for ${period} all the same, say so: “force”: true, or --force on the command line.`,
    { period, next: begun ?? next },
  );
}

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
