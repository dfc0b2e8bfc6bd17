import type { BusinessProfile } from "../config/business-profile.ts";
import { appendAudit } from "../store/audit/audit.ts";
import {
  endOnboarding,
  getOnboarding,
  type Onboarding,
  updateOnboarding,
} from "../store/onboarding/onboardings.ts";
import { startOrSignalOnboarding } from "../temporal/start.ts";
import { AUTHOR, type JanitorContext } from "./context.ts";
import { executionOf, mayBeStarting } from "./executions.ts";

/**
 * Gives an onboarding that has lost its workflow a new one, which goes on from what the service
 * has. One that a person ended in Temporal stays ended, and what is personal is forgotten.
 */
export async function followLostOnboarding(
  context: JanitorContext,
  { businessId }: BusinessProfile,
): Promise<void> {
  const onboarding = await getOnboarding(context.store.db, businessId);
  if (onboarding === undefined || onboarding.endedAtMs !== null) return;
  const { business, playbook, launchedBy, workflowId } = onboarding;
  const execution = await executionOf(context.temporal, workflowId);
  if (execution.kind === "running" || mayBeStarting(execution, onboarding.launchedAtMs)) return;
  const wasEnded = execution.kind === "terminated" || execution.kind === "cancelled";
  // An earlier round's end says nothing about this one.
  if (wasEnded && execution.closedAtMs >= onboarding.launchedAtMs) {
    await endAsMeant(context, onboarding);
    return;
  }
  await startOrSignalOnboarding(context.temporal, { business, playbook, launchedBy });
  context.log.warn("an onboarding had lost its workflow and got a new one", { workflowId });
}

async function endAsMeant(context: JanitorContext, onboarding: Onboarding): Promise<void> {
  const { businessId, workflowId } = onboarding;
  const nowMs = Date.now();
  await context.store.transactionOf(businessId, async (trx) => {
    const waitingFor = "It was ended in Temporal; launch it again to go on.";
    await updateOnboarding(trx, businessId, { phase: "expired", waitingFor }, nowMs);
    const forgotten = await endOnboarding(trx, businessId, nowMs);
    await appendAudit(trx, {
      businessId,
      nowMs,
      actor: AUTHOR,
      action: "onboarding.ended",
      subject: workflowId,
      details: { phase: "expired", forgotten, reason: "its workflow was ended in Temporal" },
    });
  });
}
