import { record } from "../../src/store/facts/record.ts";
import { lineHandedToRetry } from "../../src/domain/facts/lines.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import { retryFailedPaymentId, WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import { claimPayables, handOverClaim } from "../../src/store/payables/claims.ts";
import { moveSubscription } from "../../src/store/payables/subscriptions.ts";
import { startOrSignal } from "../../src/temporal/start.ts";
import { changeLine, type RunLine } from "../../src/store/lines/lines.ts";
import { getRetry, updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../shared/context.ts";

/** Gives a failed or returned bill an owner of its own, which keeps the claim from here on. */
export async function handOverToRetry(
  context: ActivityContext,
  run: Run,
  line: RunLine,
  clock: ClockReading,
): Promise<void> {
  const workflowId = retryFailedPaymentId(run.business, line.payableId);
  const isTaken = await context.store.transactionOf(run.businessId, async (trx) => {
    const { businessId, business, runId } = run;
    const { payableId } = line;
    if (!(await handOverClaim(trx, { businessId, payableId, from: runId, to: workflowId }))) {
      // The run has released the claim of a bill that had settled.
      const claim = { businessId, payableIds: [payableId], owner: workflowId };
      const { claimed } = await claimPayables(trx, { ...claim, nowMs: clock.realMs });
      if (claimed.length === 0) return false;
    }
    await moveSubscription(trx, { businessId, payableId, owner: workflowId });
    const nowMs = clock.realMs;
    const known = await getRetry(trx, businessId, payableId);
    await upsertRetry(trx, { businessId, payableId, business, workflowId, runId, nowMs });
    if (known !== undefined && known.runId !== runId) {
      // Another run's payment is another entry, so its retries are counted from the start.
      const anew = {
        phase: "planning",
        retriesMade: 0,
        retryOn: null,
        approvalEnded: null,
        requested: null,
      };
      await updateRetry(trx, { businessId, payableId }, anew, nowMs);
    }
    return true;
  });
  // The line stays as it is until its owner runs, so the next look makes up for a crash before
  // that.
  await startOrSignal(context.temporal, WORKFLOW_KINDS.retryFailedPayment, {
    business: run.business,
    payableId: line.payableId,
  });
  // While another run pays part of the bill, the retry only records that this part came back.
  if (!isTaken) return;
  await context.store.transactionOf(run.businessId, async (trx) => {
    const pollAtMs = clock.businessMs;
    const change = { state: "retrying", look: false, pollAtMs } as const;
    if (!(await changeLine(trx, line, change, clock.realMs, { from: [line.state] }))) return;
    const head = { businessId: run.businessId, nowMs: clock.realMs, by: byWorkflow(run.runId) };
    await record(trx, lineHandedToRetry({ ...head, subject: line.payableId }, { workflowId }));
  });
}
