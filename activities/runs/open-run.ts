import type { BegunRun } from "../../src/contracts/activities.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { holdBackFromRun } from "../cancel/hold-back.ts";
import type { ActivityContext } from "../shared/context.ts";
import { LOST_RUN } from "./lost-run.ts";

/**
 * Returns what the run's row says at the start: a run whose work is done ends at once, even years
 * later. What a planned run is to hold back is on hold before its first look.
 */
export async function openRun(context: ActivityContext, runId: string): Promise<BegunRun> {
  const run = await getRun(context.store.db, runId);
  if (run === undefined) return LOST_RUN;
  const ended = ENDED_PHASES.includes(run.phase);
  const planned = run.planHash !== null;
  if (planned && !ended) await holdBackFromRun(context, runId);
  return { ended, phase: run.phase, planned };
}
