import type { ClockReading } from "../../src/business/clock.ts";
import { claimPayables } from "../../src/store/claims.ts";
import { getRetry, upsertRetry, type Retry } from "../../src/store/retries.ts";
import { getRun, type Run } from "../../src/store/runs.ts";
import { moveWatch } from "../../src/store/watches.ts";
import type { ActivityContext } from "../context.ts";

/** The payable of a case and the workflow that would own it. */
export interface Subject {
  readonly business: string;
  readonly businessId: string;
  readonly payableId: string;
  readonly workflowId: string;
}

/** Makes the workflow the owner of its payable, where no run and no other workflow has it. */
export async function takeOver(
  context: ActivityContext,
  subject: Subject,
  clock: ClockReading,
): Promise<
  | { readonly kind: "taken"; readonly run: Run; readonly row: Retry }
  | { readonly kind: "not-ours"; readonly reason: string; readonly isStranger?: boolean }
> {
  const { business, businessId, payableId, workflowId } = subject;
  return context.store.transactionOf(businessId, async (trx) => {
    const latest = await trx
      .selectFrom("run_lines")
      .innerJoin("runs", "runs.run_id", "run_lines.run_id")
      .select("run_lines.run_id")
      .where("run_lines.business_id", "=", businessId)
      .where("run_lines.payable_id", "=", payableId)
      .where("run_lines.attempts", ">", 0)
      .orderBy("runs.launched_at_ms", "desc")
      .executeTakeFirst();
    const known = await getRetry(trx, businessId, payableId);
    // A person's request names its run; a late return is about the run that paid last.
    const asked = known?.requested === "retry" ? known.runId : null;
    const runId = asked ?? latest?.run_id ?? known?.runId ?? null;
    const run = runId === null ? undefined : await getRun(trx, runId);
    if (run === undefined) {
      return { kind: "not-ours", reason: "Payrun has not paid it", isStranger: true };
    }
    const claim = await claimPayables(trx, {
      businessId,
      payableIds: [payableId],
      owner: workflowId,
      nowMs: clock.realMs,
    });
    const owner = claim.refused[0]?.owner;
    if (owner !== undefined) return { kind: "not-ours", reason: `it belongs to ${owner}` };
    await moveWatch(trx, { businessId, payableId, owner: workflowId });
    const row = await upsertRetry(trx, {
      businessId,
      payableId,
      business,
      workflowId,
      runId: run.runId,
      nowMs: clock.realMs,
    });
    return { kind: "taken", run, row };
  });
}
