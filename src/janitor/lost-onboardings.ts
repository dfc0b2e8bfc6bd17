import { onboardingEnded } from "../domain/facts/onboardings.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import type { BusinessProfile } from "../config/business-profile.ts";
import {
  endOnboarding,
  getOnboarding,
  type Onboarding,
  updateOnboarding,
} from "../store/onboarding/onboardings.ts";
import type { Tables } from "../store/schema/tables.ts";
import { startOrSignal } from "../temporal/start.ts";
import { WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";
import { PAYRUN } from "../contracts/authors.ts";
import type { JanitorContext } from "./context.ts";
import type { Owed } from "./owed.ts";

/**
 * Returns a business's onboarding, if it has not ended. A new workflow goes on from what the
 * service has. An onboarding that a person ended in Temporal stays ended, and its personal data is
 * deleted.
 */
export async function onboardingsOwed(
  { store, temporal }: JanitorContext,
  { businessId }: BusinessProfile,
): Promise<Owed[]> {
  const onboarding = await getOnboarding(store.db, businessId);
  if (onboarding === undefined || onboarding.endedAtMs !== null) return [];
  const { workflowId, launchedAtMs } = onboarding;
  return [
    {
      workflowId,
      sinceMs: launchedAtMs,
      subject: workflowId,
      keep: async (was) => async (trx) => {
        const wasEnded = was.kind === "terminated" || was.kind === "cancelled";
        // An earlier round's end says nothing about this one.
        if (!wasEnded || was.closedAtMs < launchedAtMs) return true;
        await endAsMeant(trx, onboarding);
        return false;
      },
      start: () => startOrSignal(temporal, WORKFLOW_KINDS.kybOnboarding, onboarding),
    },
  ];
}

async function endAsMeant(
  trx: Transaction<Tables>,
  { businessId, workflowId }: Onboarding,
): Promise<void> {
  const nowMs = Date.now();
  const waitingFor = "It was ended in Temporal; launch it again to go on.";
  await updateOnboarding(trx, businessId, { phase: "expired", waitingFor }, nowMs);
  const forgotten = await endOnboarding(trx, businessId, nowMs);
  const head = { businessId, nowMs, by: PAYRUN, subject: workflowId };
  const reason = "its workflow was ended in Temporal";
  await record(trx, onboardingEnded(head, { phase: "expired", forgotten, reason }));
}
