import { runFailed } from "../../src/domain/facts/runs.ts";
import { offCycleOf } from "../../src/domain/off-cycle.ts";
import { record } from "../../src/store/facts/record.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import { releaseEndedClaims } from "../../src/store/payables/claims.ts";
import { getRun, isOver, setRunPhase } from "../../src/store/runs/runs.ts";
import { holdBackFromRun } from "../cancel/hold-back.ts";
import type { ActivityContext } from "../shared/context.ts";
import { PlanRefusedError } from "../shared/plan-refused-error.ts";
import { planOnce } from "./make-plan.ts";

/**
 * Plans a run, or ends it if a person must change something first. Then holds back what is to be
 * held back of it.
 *
 * @returns `refused`: why it has ended
 */
export async function planRun(
  context: ActivityContext,
  runId: string,
): Promise<{ readonly refused?: string }> {
  const refused = await planOrEnd(context, runId);
  await holdBackFromRun(context, runId);
  return refused === undefined ? {} : { refused };
}

async function planOrEnd(context: ActivityContext, runId: string): Promise<string | undefined> {
  try {
    await planOnce(context, runId);
    return undefined;
  } catch (error) {
    if (!(error instanceof PlanRefusedError)) throw error;
    await failRun(context, runId, error.message);
    return error.message;
  }
}

/**
 * Ends a run that can't be planned, unless it has a plan by now; nothing was paid, so its period may
 * be launched again.
 */
export async function failRun(
  context: ActivityContext,
  runId: string,
  reason: string,
): Promise<void> {
  const known = await getRun(context.store.db, runId);
  if (known === undefined) return;
  const { businessId } = known;
  await context.store.transactionOf(businessId, async (trx) => {
    const run = await getRun(trx, runId);
    if (run === undefined || isOver(run) || run.planHash !== null) return;
    const nowMs = Date.now();
    await setRunPhase(trx, runId, { phase: "failed", failure: reason, endedAtMs: nowMs });
    await releaseEndedClaims(trx, runId);
    const isTold = run.policy.notify.people !== "none";
    const told = isTold ? { ...run, offCycle: offCycleOf(run.inputs) } : undefined;
    const head = { businessId, nowMs, by: byWorkflow(runId), subject: runId };
    await record(trx, runFailed(head, { reason }, { run: told }));
  });
}
