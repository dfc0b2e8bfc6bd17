import type { OnboardingAssessment } from "../../src/contracts/onboarding.ts";
import type { Clock } from "../../src/domain/clock/clock.ts";
import { rulesOf, type Wait, judgeWait } from "../../src/domain/onboarding/waits.ts";
import type { OnboardingInput } from "../../src/store/onboarding/onboarding-inputs.ts";
import type { Onboarding } from "../../src/store/onboarding/onboardings.ts";

/** What an assessment works on. */
export interface OnboardingStanding {
  readonly onboarding: Onboarding;
  readonly inputs: readonly OnboardingInput[];
  readonly clock: Clock;
}

/** Returns the wait of this name, which goes on or begins now, and what its length calls for. */
export function waitOf(
  { onboarding, clock }: Pick<OnboardingStanding, "onboarding" | "clock">,
  key: string,
): {
  readonly wait: Wait;
  readonly isNew: boolean;
  readonly verdict: ReturnType<typeof judgeWait>;
} {
  const isNew = onboarding.waitKey !== key;
  const wait = isNew
    ? { sinceMs: clock.businessMs, sinceRealMs: clock.realMs, reminders: 0 }
    : {
        sinceMs: onboarding.waitSinceMs,
        sinceRealMs: onboarding.waitSinceRealMs,
        reminders: onboarding.reminders,
      };
  return { wait, isNew, verdict: judgeWait(wait, clock, rulesOf(key, onboarding.policy)) };
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
