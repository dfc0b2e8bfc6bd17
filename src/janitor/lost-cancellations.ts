import type { BusinessProfile } from "../config/business-profile.ts";
import { appendAudit } from "../store/audit/audit.ts";
import { openCancellations } from "../store/cancellations/cancellations.ts";
import { startOrSignalCancellation } from "../temporal/start.ts";
import { AUTHOR, type JanitorContext } from "./context.ts";
import { executionOf, mayBeStarting } from "./executions.ts";

/**
 * Gives every cancellation that has lost its workflow a new one, which reads each payment before it
 * sends anything. Its holds are rows of the store, so nothing was paid meanwhile.
 */
export async function followLostCancellations(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const { businessId } = profile;
  for (const cancellation of await openCancellations(context.store.db, businessId)) {
    const { workflowId, playbook, requestedBy, requestedAtMs } = cancellation;
    if (running.has(workflowId)) continue;
    const execution = await executionOf(context.temporal, workflowId);
    if (execution.kind === "running" || mayBeStarting(execution, requestedAtMs)) continue;
    await context.store.transactionOf(businessId, (trx) =>
      appendAudit(trx, {
        businessId,
        nowMs: Date.now(),
        actor: AUTHOR,
        action: "cancellation.follower-started",
        subject: workflowId,
        details: { workflow: execution.kind },
      }),
    );
    await startOrSignalCancellation(context.temporal, {
      workflowId,
      business: profile.name,
      playbook,
      requestedBy,
    });
    context.log.warn("a cancellation had lost its workflow and got a new one", {
      workflowId,
      was: execution.kind,
    });
  }
}
