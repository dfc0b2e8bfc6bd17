import { byWorkflow } from "../../src/contracts/authors.ts";
import type { BegunRun } from "../../src/contracts/activities.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { releaseEndedClaims } from "../../src/store/payables/claims.ts";
import { getRun, isOver, setRunPhase } from "../../src/store/runs/runs.ts";
import { signalOnCommit } from "../../src/store/signals/pending-signals.ts";
import type { ActivityContext } from "../shared/context.ts";
import { PlanRefusedError } from "../shared/plan-refused-error.ts";
import { LOST_RUN } from "./lost-run.ts";
import { planRun } from "./plan-run.ts";
import { notifyRunFailed } from "../notify/run.ts";

/**
 * Returns what the run's row says at the start: a run whose work is done ends at once, even years
 * later.
 */
export async function beginRun(context: ActivityContext, runId: string): Promise<BegunRun> {
  const run = await getRun(context.store.db, runId);
  if (run === undefined) return LOST_RUN;
  return {
    ended: ENDED_PHASES.includes(run.phase),
    phase: run.phase,
    planned: run.planHash !== null,
  };
}

/**
 * Plans a run, or ends it if a person must change something first.
 *
 * @returns why it has ended; undefined otherwise
 */
export async function planOrEnd(
  context: ActivityContext,
  runId: string,
): Promise<string | undefined> {
  try {
    await planRun(context, runId);
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
    await appendAudit(trx, {
      businessId,
      nowMs,
      actor: byWorkflow(runId),
      action: "run-failed",
      subject: runId,
      details: { reason },
    });
    signalOnCommit(trx, businessId, { kind: "run", runId });
    await notifyRunFailed(trx, run, reason, nowMs);
  });
}
