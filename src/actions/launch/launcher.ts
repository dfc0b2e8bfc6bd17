import type { Playbook } from "../../contracts/playbook.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { ActionContext } from "../context.ts";
import { conflict, unprocessable } from "../errors.ts";
import type { Principal } from "../principal.ts";

export interface LaunchRequest {
  readonly playbook: string;
  /** Needed only if several businesses have a playbook of that name. */
  readonly business?: string | undefined;
  /** `YYYY-MM-DD`; by default the schedule's nominal date, or today in its time zone. */
  readonly period?: string | undefined;
  /** True to take a period that the playbook's schedule doesn't have. */
  readonly force?: boolean | undefined;
  /** What a run is launched with; undefined joins a run whatever it was launched with. */
  readonly inputs?: Readonly<Record<string, string>> | undefined;
  /** True to never create the next revision of a period that has used up its run. */
  readonly once?: boolean;
}

export interface Launched {
  readonly runId: string;
  /** False if the run existed already and was joined. */
  readonly created: boolean;
}

export type Launching = Pick<ActionContext, "store" | "profiles" | "temporal" | "clocks" | "nowMs">;

/** A stored playbook that is being launched. */
export interface Launch<P extends Playbook> {
  readonly request: LaunchRequest;
  readonly playbook: P;
  readonly revision: number;
  readonly profile: BusinessProfile;
  readonly by: Principal;
}

/** Launches playbooks of one kind: writes a row first, then always starts with USE_EXISTING. */
export type Launcher<P extends Playbook> = (
  context: Launching,
  launch: Launch<P>,
) => Promise<Launched>;

/** @throws GatewayError 409 if what would be joined was launched with other inputs */
export function requireSameInputs(
  { inputs }: LaunchRequest,
  runId: string,
  its: Readonly<Record<string, unknown>>,
): void {
  if (inputs === undefined) return;
  const names = new Set([...Object.keys(inputs), ...Object.keys(its)]);
  const differing = [...names].filter((name) => inputs[name] !== its[name]);
  if (differing.length === 0) return;
  throw conflict(
    "other_inputs",
    `${runId} was launched with other inputs (${differing.join(", ")}), and inputs don't change. Nothing was launched: leave inputs out to join it.`,
    { runId, inputs: its },
  );
}

/** @throws GatewayError 422 if a launch has an input that its kind of playbook doesn't know */
export function requireKnownInputs(
  { request, playbook: { kind } }: Launch<Playbook>,
  known: readonly string[],
): void {
  const unknown = Object.keys(request.inputs ?? {}).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const takes = known.length === 0 ? "no inputs" : `the inputs ${known.join(", ")} only`;
  throw unprocessable(
    "unknown_inputs",
    `A ${kind} playbook takes ${takes}: leave out ${unknown.join(", ")}.`,
    { unknown },
  );
}
