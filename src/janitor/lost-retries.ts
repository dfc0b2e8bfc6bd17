import type { Transaction } from "kysely";
import type { BusinessProfile } from "../config/business-profile.ts";
import { appendAudit } from "../store/audit/audit.ts";
import { isOpenSubject } from "../store/payables/open-subjects.ts";
import { ownedRetries, type OwnedRetry } from "../store/janitor/open-runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { startOrSignalRetry } from "../temporal/start.ts";
import { AUTHOR, type JanitorContext } from "./context.ts";
import { type Execution, executionOf, mayBeStarting } from "./executions.ts";
import { holdTerminated } from "./lost-runs.ts";

const STOPPED =
  "The workflow that owns this failed bill was terminated in Temporal. It is followed, and not " +
  "paid again until somebody releases this hold.";

/**
 * Gives every failed or returned bill whose owner has lost its workflow a new one, which reads
 * everything about the bill again before it does anything.
 */
export async function followLostRetries(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const { businessId } = profile;
  const owned = await ownedRetries(context.store.db, businessId);
  for (const retry of owned) {
    if (running.has(retry.workflowId)) continue;
    const execution = await executionOf(context.temporal, retry.workflowId);
    if (execution.kind === "running" || mayBeStarting(execution, retry.updatedAtMs)) continue;
    await note(context, profile, retry, execution);
    await startOrSignalRetry(context.temporal, profile.name, retry.payableId);
    context.log.warn("a failed bill had lost its workflow and got a new one", {
      payableId: retry.payableId,
      was: execution.kind,
    });
  }
}

function note(
  context: JanitorContext,
  { businessId }: BusinessProfile,
  { payableId, workflowId, maySend }: OwnedRetry,
  execution: Exclude<Execution, { kind: "running" }>,
): Promise<void> {
  const record = async (trx: Transaction<Tables>): Promise<void> => {
    if (execution.kind === "terminated" || execution.kind === "cancelled") {
      const mayStillPay = await isOpenSubject(trx, businessId, payableId);
      const hold = { businessId, scope: "payable", value: payableId, reason: STOPPED } as const;
      if (maySend || mayStillPay) await holdTerminated(trx, hold, execution.closedAtMs);
    }
    await appendAudit(trx, {
      businessId,
      nowMs: Date.now(),
      actor: AUTHOR,
      action: "retry.follower-started",
      subject: payableId,
      details: { workflowId, workflow: execution.kind },
    });
  };
  return context.store.transactionOf(businessId, record);
}
