import type { BusinessProfile } from "../config/business-profile.ts";
import type { PayRunPlaybook } from "../contracts/playbook.ts";
import { periodAt } from "../domain/clock/schedule-period.ts";
import { getPlaybook } from "../store/playbooks.ts";
import { recordLaunch } from "../store/runs.ts";
import type { GatewayContext } from "./context.ts";
import type { Principal } from "./http/auth.ts";
import { notFound, unprocessable } from "./http/errors.ts";
import { startPayRun } from "./temporal.ts";

export interface LaunchRequest {
  readonly playbook: string;
  /** `YYYY-MM-DD`; without it the schedule's nominal date, or today in its zone. */
  readonly period?: string | undefined;
  readonly inputs?: Readonly<Record<string, string>> | undefined;
  /** Never the next revision of a period that has had its run. */
  readonly once?: boolean;
}

export interface Launched {
  readonly runId: string;
  /** False where the run was there already and has been joined. */
  readonly created: boolean;
}

type Launching = Pick<GatewayContext, "store" | "profiles" | "temporal" | "clocks" | "nowMs">;

/**
 * Launches a stored playbook: makes the run's row, or finds the one of the same business,
 * playbook and period, and then always starts its workflow with USE_EXISTING, so that a launch
 * that died half-way is completed by the next one and none makes a second run.
 *
 * @throws GatewayError 404 for an unknown playbook, 422 for a business that is not configured,
 * 503 where Temporal can't be reached: the row is kept, and launching again goes on
 */
export async function launch(
  context: Launching,
  request: LaunchRequest,
  by: Principal,
): Promise<Launched> {
  const stored = await loadPlaybook(context, request.playbook);
  const profile = businessOf(context, stored.playbook);
  const period = await periodOf(context, profile, stored.playbook, request.period);
  const { runId, created } = await context.store.transaction((trx) =>
    recordLaunch(trx, {
      businessId: profile.businessId,
      business: profile.name,
      playbook: request.playbook,
      playbookRevision: stored.revision,
      policy: stored.playbook,
      period,
      inputs: request.inputs ?? {},
      launchedBy: by.name,
      launchedByTokenId: by.tokenId,
      nowMs: context.nowMs(),
      once: request.once === true,
    }),
  );
  await startPayRun(context.temporal, {
    runId,
    business: profile.name,
    playbook: request.playbook,
    period,
    launchedBy: by.name,
  });
  return { runId, created };
}

/** @throws GatewayError 404 */
export async function loadPlaybook(
  context: Pick<GatewayContext, "store">,
  name: string,
): Promise<{ playbook: PayRunPlaybook; revision: number }> {
  const stored = await getPlaybook(context.store.db, name);
  if (stored === undefined) {
    throw notFound(
      `There is no playbook “${name}”; an administrator stores one with “payrun apply FILE”.`,
    );
  }
  return { playbook: stored.compiled, revision: stored.revision };
}

/**
 * The business that a playbook pays for: the one it names, or the only one.
 *
 * @throws GatewayError 422
 */
export function businessOf(
  context: Pick<GatewayContext, "profiles">,
  playbook: Pick<PayRunPlaybook, "name" | "business">,
): BusinessProfile {
  return businessNamed(context, playbook.business, `playbook “${playbook.name}”: add “business:”`);
}

/**
 * @param name null or undefined for the only one
 * @param where says in the error where to name it
 * @throws GatewayError 422
 */
export function businessNamed(
  context: Pick<GatewayContext, "profiles">,
  name: string | null | undefined,
  where: string,
): BusinessProfile {
  const all = context.profiles.all();
  if (name === null || name === undefined) {
    const only = all[0];
    if (only !== undefined && all.length === 1) return only;
    throw unprocessable(
      "business_ambiguous",
      all.length === 0
        ? "No business is configured: set PAYRUN_PROFILES or the PAYMENTS_… settings."
        : `There are several businesses (${all.map((each) => each.name).join(", ")}): say which one (${where}).`,
    );
  }
  const profile = context.profiles.get(name);
  if (profile === undefined) {
    throw unprocessable(
      "business_unknown",
      `No business is called “${name}”; configured: ${all.map((each) => each.name).join(", ") || "none"}.`,
    );
  }
  return profile;
}

/** The period that a launch or a plan is for, on the business clock. */
export async function periodOf(
  context: Pick<GatewayContext, "clocks">,
  profile: BusinessProfile,
  playbook: PayRunPlaybook,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined) return asked;
  const { businessMs } = await context.clocks.read(profile);
  return periodAt(playbook.schedule, businessMs);
}
