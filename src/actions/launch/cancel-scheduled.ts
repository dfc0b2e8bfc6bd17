import type { CancelScheduledPlaybook, HoldPlaybook } from "../../contracts/playbook.ts";
import { namedPayments } from "../../domain/cancellations/policy.ts";
import { requestCancellation } from "./request-cancellation.ts";
import { unprocessable } from "../errors.ts";
import {
  type Launch,
  type Launcher,
  type LaunchRequest,
  requireKnownInputs,
  requireSameInputs,
} from "./launcher.ts";

/** Cancels what is scheduled now. */
export const launchCancelScheduled: Launcher<CancelScheduledPlaybook> = async (context, launch) => {
  const { request, playbook, profile, by } = launch;
  refuseWithoutChoice(launch);
  const reason = reasonIn(request) ?? `chosen by ${request.playbook}`;
  const { reason: its, ...launched } = await requestCancellation(context, {
    profile,
    request: request.playbook,
    playbook: request.playbook,
    policy: { ...playbook, name: request.playbook },
    runId: null,
    reason,
    by: by.name,
  });
  if (its !== reason) requireSameInputs(request, launched.runId, { reason: its });
  return launched;
};

/** Returns the reason that a launch of such a playbook gives: its only input. */
export function reasonIn({ inputs }: LaunchRequest): string | undefined {
  return inputs?.["reason"];
}

/**
 * @throws GatewayError 422 if a period or an unknown input is given, or if only events can start the
 * playbook
 */
export function refuseWithoutChoice(launch: Launch<HoldPlaybook | CancelScheduledPlaybook>): void {
  const { request, playbook } = launch;
  requireKnownInputs(launch, ["reason"]);
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
