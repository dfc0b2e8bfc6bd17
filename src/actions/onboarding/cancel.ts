import { onboardingEnded } from "../../domain/facts/onboardings.ts";
import { record } from "../../store/facts/record.ts";
import {
  endOnboarding,
  getOnboardingByWorkflowId,
  updateOnboarding,
} from "../../store/onboarding/onboardings.ts";
import type { ActionContext } from "../context.ts";
import { conflict } from "../errors.ts";

/**
 * Ends an onboarding on a person's request, and deletes all personal data that was kept for it.
 * What the service has stays there; a new launch continues from that.
 *
 * @returns false if the store knows no onboarding of that id
 * @throws GatewayError 409 if it has ended
 */
export async function cancelOnboarding(
  context: ActionContext,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string | undefined },
): Promise<boolean> {
  const { db } = context.store;
  const known = await getOnboardingByWorkflowId(db, id);
  if (known === undefined) return false;
  const { businessId, workflowId } = known;
  await context.store.transactionOf(businessId, async (trx) => {
    const onboarding = (await getOnboardingByWorkflowId(trx, id)) ?? known;
    if (onboarding.endedAtMs !== null) {
      throw conflict(
        "run_ended",
        `The onboarding has ended (${onboarding.phase}); nothing is left to cancel.`,
      );
    }
    const nowMs = context.nowMs();
    const waitingFor = `It was cancelled by ${by}; launch it again to go on.`;
    await updateOnboarding(trx, businessId, { phase: "expired", waitingFor }, nowMs);
    const forgotten = await endOnboarding(trx, businessId, nowMs);
    const head = { businessId, nowMs, by, subject: workflowId };
    const ended = { phase: "expired", round: onboarding.round, forgotten };
    await record(trx, onboardingEnded(head, { ...ended, reason: reason ?? "it was cancelled" }));
  });
  return true;
}
