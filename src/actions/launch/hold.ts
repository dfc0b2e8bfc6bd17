import { cancelScheduledPaymentsId, holdBackRequest } from "../../contracts/workflow-kinds.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import type { HoldPlaybook } from "../../contracts/playbook.ts";
import { heldBackReason } from "../../domain/cancellations/policy.ts";
import { isPayRun } from "../../store/playbooks/playbooks.ts";
import { listRuns } from "../../store/runs/runs.ts";
import { requestCancellation, type RequestedCancellation } from "./request-cancellation.ts";
import { unprocessable } from "../errors.ts";
import { reasonIn, refuseWithoutChoice } from "./cancel-scheduled.ts";
import { type Launch, type Launcher, type Launching, requireSameInputs } from "./launcher.ts";

/** Holds back bills of the runs that are under way. */
export const launchHold: Launcher<HoldPlaybook> = async (context, launch) => {
  const { request, playbook, profile, by } = launch;
  refuseWithoutChoice(launch);
  const reason = reasonIn(request) ?? heldBackReason(request.playbook, playbook.releasedBy);
  let last: RequestedCancellation | undefined;
  let created = false;
  for (const runId of await openRunsOf(context, launch)) {
    last = await requestCancellation(context, {
      profile,
      request: holdBackRequest(request.playbook, runId),
      playbook: request.playbook,
      policy: { ...playbook, name: request.playbook },
      runId,
      reason,
      by: by.name,
    });
    created ||= last.created;
  }
  if (last === undefined) throw await nothingToHoldBack(context, launch);
  const { runId, reason: its } = last;
  if (!created && its !== reason) requireSameInputs(request, runId, { reason: its });
  return { runId, created: last.created };
};

/** Returns the runs under way whose bills the playbook holds back, the newest last. */
async function openRunsOf(
  context: Launching,
  { playbook, profile }: Launch<HoldPlaybook>,
): Promise<string[]> {
  const { run } = playbook.choose;
  const runs = await listRuns(context.store.db, { businessId: profile.businessId, limit: 500 });
  return runs
    .filter((each) => (run === null || each.playbook === run) && !ENDED_PHASES.includes(each.phase))
    .map(({ runId }) => runId)
    .toReversed();
}

async function nothingToHoldBack(
  context: Launching,
  { playbook, profile, request }: Launch<HoldPlaybook>,
): Promise<Error> {
  const { run } = playbook.choose;
  if (run !== null && !(await isPayRun(context.store.db, { business: profile.name, name: run }))) {
    return unprocessable(
      "unknown_playbook",
      `“${request.playbook}” holds bills of “${run}” back, and no pay-run playbook of that name is stored: nothing is held back.`,
    );
  }
  const example = cancelScheduledPaymentsId(profile.name, `${request.playbook}/PERIOD`);
  return unprocessable(
    "no_open_run",
    `No run${run === null ? "" : ` of ${run}`} is under way. Nothing needs to be launched: it holds bills of each run back as soon as that is planned, as ${example}.`,
  );
}
