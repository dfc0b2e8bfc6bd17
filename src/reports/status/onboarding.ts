import { isoInstant } from "../../domain/clock/instants.ts";
import type { OnboardingStatus } from "../../api/onboardings.ts";
import { legalText } from "../../domain/onboarding/texts.ts";
import type { Db } from "../../store/index.ts";
import { listInputs } from "../../store/onboarding/onboarding-inputs.ts";
import { getOnboardingByWorkflowId, type Onboarding } from "../../store/onboarding/onboardings.ts";
import type { Stand } from "../../store/runs/run-stand.ts";

/** Returns the status of a `kyb-onboarding/…` workflow; undefined if the store knows no such id. */
export async function onboardingStatus(db: Db, id: string): Promise<OnboardingStatus | undefined> {
  const onboarding = await getOnboardingByWorkflowId(db, id);
  return onboarding === undefined ? undefined : statusFrom(db, onboarding);
}

async function statusFrom(db: Db, onboarding: Onboarding): Promise<OnboardingStatus> {
  const inputs = await listInputs(db, onboarding.businessId, onboarding.round);
  const { business, proposal, policy, endedAtMs, waitKey } = onboarding;
  return {
    id: onboarding.workflowId,
    kind: "kyb-onboarding",
    business,
    playbook: onboarding.playbook,
    phase: onboarding.phase,
    ended: endedAtMs !== null,
    waitingFor: onboarding.waitingFor,
    launchedAt: isoInstant(onboarding.launchedAtMs),
    endedAt: endedAtMs === null ? null : isoInstant(endedAtMs),
    ...onboardingStand(onboarding),
    counts: {},
    totalCents: 0,
    planHash: null,
    payments: [],
    launchedBy: onboarding.launchedBy,
    waitingSince: waitKey === "" ? null : isoInstant(onboarding.waitSinceMs),
    reminders: onboarding.reminders,
    nextSteps: onboarding.nextSteps,
    provided: inputs.map(({ step, state, reason, providedBy, providedAtMs }) => ({
      step,
      state,
      reason,
      providedBy,
      providedAt: isoInstant(providedAtMs),
    })),
    texts: {
      signature: legalText("signature", business),
      certification: legalText("certification", business),
    },
    proposal:
      proposal === null || policy.propose === null
        ? null
        : { name: policy.propose, text: proposal },
  };
}

/** Says where an onboarding stands. */
export function onboardingStand({
  needsAction,
  endedAtMs,
}: Pick<Onboarding, "needsAction" | "endedAtMs">): Stand {
  return { needsAction, isFinal: endedAtMs !== null };
}
