import type { CancelScheduledPlaybook, HoldPlaybook } from "../../contracts/playbook.ts";
import { namedPayments } from "../../domain/cancellations/policy.ts";
import { requestCancellation } from "./request-cancellation.ts";
import { unprocessable } from "../errors.ts";
import type { Launch, Launcher } from "./launcher.ts";

/** Cancels what is scheduled now. */
export const launchCancelScheduled: Launcher<CancelScheduledPlaybook> = async (context, launch) => {
  const { request, playbook, profile, by } = launch;
  refuseWithoutChoice(launch);
  return requestCancellation(context, {
    profile,
    request: request.playbook,
    playbook: request.playbook,
    policy: { ...playbook, name: request.playbook },
    runId: null,
    reason: request.inputs?.["reason"] ?? `chosen by ${request.playbook}`,
    by: by.name,
  });
};

/** @throws GatewayError 422 if a period is given, or if only events can start the playbook */
export function refuseWithoutChoice({
  request,
  playbook,
}: Launch<HoldPlaybook | CancelScheduledPlaybook>): void {
  if (request.period !== undefined) {
    throw unprocessable(
      "period_without_meaning",
      `A ${playbook.kind} playbook has no period: it is about what is there now. Leave it out.`,
    );
  }
  const { run, where, vendor } = playbook.choose;
  if (run !== null || where !== null || vendor !== null || namedPayments(playbook) !== null) return;
  throw unprocessable(
    "not_launched",
    `“${request.playbook}” chooses nothing by itself: events start it (${(playbook.events ?? []).join(", ")}), each for its own vendor or bill.`,
  );
}
