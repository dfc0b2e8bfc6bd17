import type { KybOnboardingInput, OnboardingAssessment } from "../src/contracts/onboarding.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { onboarding } from "./activities.ts";
import { Turns } from "./turns.ts";

/**
 * Takes a business through verification: waits for people's data, sends each step in order, and
 * polls the review, for which the service sends no event. Ends verified or expired.
 *
 * Histories hold references only. Personal data stays in the vault until it is sent to the service.
 */
export async function kybOnboarding(input: KybOnboardingInput): Promise<string> {
  const { business } = input;
  return new Turns().toTheEnd<OnboardingAssessment, string>({
    look: () =>
      onboarding.reviewOnboarding.executeWithOptions(
        { summary: `Reviews how far the verification of ${business} is` },
        [input],
      ),
    attributes: ({ phase, needsAction }) => searchAttributes({ phase, needsAction }),
    act: async (now) => {
      if (now.ended) return { result: now.phase };
      if (now.send === null) return "sleep";
      const { step, inputId } = now.send;
      const summary = `Sends the step ${step}, unless the service has it`;
      const sent = await onboarding.sendOnboardingStep.executeWithOptions({ summary }, [
        { business, inputId },
      ]);
      return sent.againInMs === 0 ? "look" : { sleep: { wakeInMs: sent.againInMs } };
    },
    input: () => [input],
  });
}
