import type { BegunRun } from "../../src/contracts/activities.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { releaseEndedClaims } from "../../src/store/payables/claims.ts";
import { getRun, setRunPhase } from "../../src/store/runs/runs.ts";
import { signalOnCommit } from "../../src/store/signals/pending-signals.ts";
import type { ActivityContext } from "../shared/context.ts";
import { LOST_RUN } from "./lost-run.ts";
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

/** Ends a run that could not be planned; nothing was paid, so its period may be launched again. */
export async function failRun(
  context: ActivityContext,
  runId: string,
  reason: string,
): Promise<void> {
  const known = await getRun(context.store.db, runId);
  if (known === undefined) return;
  await context.store.transactionOf(known.businessId, async (trx) => {
    const run = (await getRun(trx, runId)) ?? known;
    const nowMs = Date.now();
    await setRunPhase(trx, runId, { phase: "failed", failure: reason, endedAtMs: nowMs });
    await releaseEndedClaims(trx, runId);
    await appendAudit(trx, {
      businessId: run.businessId,
      nowMs,
      actor: runId,
      action: "run-failed",
      subject: runId,
      details: { reason },
    });
    signalOnCommit(trx, run.businessId, { kind: "run", runId });
    await notifyRunFailed(trx, run, reason, nowMs);
  });
}
