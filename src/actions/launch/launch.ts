import type { Playbook } from "../../contracts/playbook.ts";
import { businessNamed } from "../businesses.ts";
import type { Principal } from "../principal.ts";
import { launchKybOnboarding } from "./kyb-onboarding.ts";
import { launchCancelScheduled } from "./cancel-scheduled.ts";
import { launchHold } from "./hold.ts";
import type { Launch, Launched, Launcher, Launching, LaunchRequest } from "./launcher.ts";
import { launchPayRun } from "./pay-run.ts";
import { refuseRetryFailed } from "./retry-failed.ts";
import { findPlaybook } from "../playbooks/playbooks.ts";

type OfKind<Kind extends Playbook["kind"]> = Extract<Playbook, { readonly kind: Kind }>;

/** The launcher of each kind of playbook. */
const LAUNCHERS: { readonly [Kind in Playbook["kind"]]: Launcher<OfKind<Kind>> } = {
  "pay-run": launchPayRun,
  "kyb-onboarding": launchKybOnboarding,
  hold: launchHold,
  "cancel-scheduled": launchCancelScheduled,
  "retry-failed": refuseRetryFailed,
};

/**
 * Launches a stored playbook: writes its row, or finds the existing one, and then always starts its
 * workflow with USE_EXISTING. So the next launch completes one that died half-way, and none makes a
 * second run.
 *
 * @throws GatewayError 404 for an unknown playbook, 422 for a business that is not configured, 503
 * if Temporal can't be reached: the row is kept, and launching again continues from it
 */
export async function launch(
  context: Launching,
  request: LaunchRequest,
  by: Principal,
): Promise<Launched> {
  const { playbook: name, business } = request;
  const {
    compiled: playbook,
    revision,
    ...stored
  } = await findPlaybook(context, { name, business });
  const profile = businessNamed(context, stored.business, "");
  return launchKind(context, { request, playbook, revision, profile, by });
}

function launchKind<Kind extends Playbook["kind"]>(
  context: Launching,
  launching: Launch<OfKind<Kind>>,
): Promise<Launched> {
  const { kind } = launching.playbook as { readonly kind: Kind };
  const launcher: Launcher<OfKind<Kind>> = LAUNCHERS[kind];
  return launcher(context, launching);
}
