import type { Playbook } from "../../contracts/playbook.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { ActionContext } from "../context.ts";
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
