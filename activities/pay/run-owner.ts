import { getPlan } from "../../src/store/plans/plans.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { ActivityContext } from "../shared/context.ts";
import { limitsOf } from "../shared/limits-of.ts";
import type { PayOwner } from "./job.ts";
import { RUN_LINES } from "./run-lines.ts";

/** Returns a run as the owner of its lines. */
export async function runOwner(context: ActivityContext, run: Run, by: string): Promise<PayOwner> {
  const { runId, business, businessId, playbook, policy } = run;
  const plan = await getPlan(context.store.db, runId);
  return {
    owner: runId,
    runId,
    business,
    businessId,
    playbook,
    policy,
    by,
    lines: RUN_LINES,
    limits: () => limitsOf(context, run),
    plannedAtMs: run.plannedAtMs ?? plan?.createdAtMs ?? 0,
  };
}
