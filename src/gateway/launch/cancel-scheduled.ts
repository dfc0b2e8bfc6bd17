import { cancelScheduledPaymentsId, withholdingRequest } from "../../contracts/names.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import type { CancelScheduledPlaybook } from "../../contracts/playbook.ts";
import { listRuns } from "../../store/runs.ts";
import { requestCancellation } from "../cancellations/request.ts";
import { unprocessable } from "../http/errors.ts";
import type { Launch, Launcher, Launching } from "./launcher.ts";

/** Withholds bills of the run that is under way, or cancels what is scheduled now. */
export const launchCancelScheduled: Launcher<CancelScheduledPlaybook> = async (context, launch) => {
  const { request, playbook, profile, by } = launch;
  if (request.period !== undefined) {
    throw unprocessable(
      "period_without_meaning",
      "A cancel-scheduled playbook has no period: it is about what is there now. Leave it out.",
    );
  }
  const { run, where, vendor, payments } = playbook.choose;
  if (run === null && where === null && vendor === null && payments === null) {
    throw unprocessable(
      "not_launched",
      `“${request.playbook}” chooses nothing by itself: events start it (${(playbook.events ?? []).join(", ")}), each for its own vendor or bill.`,
    );
  }
  const runId =
    playbook.how === "not-submitted-until-released" ? await openRunOf(context, launch) : null;
  return requestCancellation(context, {
    profile,
    request: runId === null ? request.playbook : withholdingRequest(request.playbook, runId),
    playbook: request.playbook,
    policy: { ...playbook, name: request.playbook },
    runId,
    reason:
      request.inputs?.["reason"] ??
      (runId === null
        ? `chosen by ${request.playbook}`
        : `${request.playbook} withholds it until it is released`),
    by: by.name,
  });
};

async function openRunOf(
  context: Launching,
  { playbook, profile }: Launch<CancelScheduledPlaybook>,
): Promise<string> {
  const runs = await listRuns(context.store.db, { businessId: profile.businessId, limit: 500 });
  const run = runs.find(
    (each) => each.playbook === playbook.choose.run && !ENDED_PHASES.includes(each.phase),
  );
  if (run !== undefined) return run.runId;
  const example = cancelScheduledPaymentsId(profile.name, `${playbook.name}/PERIOD`);
  throw unprocessable(
    "no_open_run",
    `No run of ${playbook.choose.run} is under way. Nothing needs to be launched: it withholds from each run as soon as that is planned, as ${example}.`,
  );
}
