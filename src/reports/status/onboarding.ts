import type { OnboardingStatus } from "../../api/onboardings.ts";
import { legalText } from "../../domain/onboarding/texts.ts";
import type { Db } from "../../store/index.ts";
import { listInputs } from "../../store/onboarding/onboarding-inputs.ts";
import {
  getOnboardingByWorkflowId,
  listOnboardings,
  type Onboarding,
} from "../../store/onboarding/onboardings.ts";

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
    launchedAt: iso(onboarding.launchedAtMs),
    endedAt: endedAtMs === null ? null : iso(endedAtMs),
    needsAction: onboarding.needsAction,
    isFinal: endedAtMs !== null,
    counts: {},
    totalCents: 0,
    planHash: null,
    payments: [],
    launchedBy: onboarding.launchedBy,
    waitingSince: waitKey === "" ? null : iso(onboarding.waitSinceMs),
    reminders: onboarding.reminders,
    nextSteps: onboarding.nextSteps,
    provided: inputs.map(({ step, state, reason, providedBy, providedAtMs }) => ({
      step,
      state,
      reason,
      providedBy,
      providedAt: iso(providedAtMs),
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

/** Returns onboardings as the list of runs shows them. */
export async function onboardingItems(
  db: Db,
  filter: {
    readonly businessId?: string | undefined;
    readonly phase?: string | undefined;
    readonly needsAction?: boolean | undefined;
  },
) {
  const { businessId, phase, needsAction } = filter;
  const all = await listOnboardings(db, businessId === undefined ? {} : { businessId });
  return all
    .filter((each) => phase === undefined || each.phase === phase)
    .filter((each) => needsAction === undefined || each.needsAction === needsAction)
    .map((each) => ({
      id: each.workflowId,
      kind: "kyb-onboarding" as const,
      business: each.business,
      playbook: each.playbook,
      period: "",
      phase: each.phase,
      waitingFor: each.waitingFor,
      totalCents: 0,
      planHash: null,
      launchedBy: each.launchedBy,
      launchedAt: iso(each.launchedAtMs),
      endedAt: each.endedAtMs === null ? null : iso(each.endedAtMs),
      needsAction: each.needsAction,
      isFinal: each.endedAtMs !== null,
    }));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
