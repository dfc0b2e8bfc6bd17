import type { OnboardingAssessment } from "../../src/contracts/onboarding.ts";
import type { OnboardingInput } from "../../src/store/onboarding-inputs.ts";
import type { Onboarding } from "../../src/store/onboardings.ts";

/** What an assessment works on. */
export interface Standing {
  readonly onboarding: Onboarding;
  readonly inputs: readonly OnboardingInput[];
  readonly clock: {
    readonly businessMs: number;
    readonly realMs: number;
    readonly scale: number;
    readonly sandbox: boolean;
  };
}

export function endedAs(onboarding: Onboarding): OnboardingAssessment {
  const { phase, waitingFor } = onboarding;
  return {
    phase,
    ended: true,
    waitingFor,
    needsAction: false,
    send: null,
    wakeInMs: 1_000,
    details: `The onboarding of **${onboarding.business}** has ended: ${phase}.`,
  };
}
