import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { SIGNAL } from "../src/contracts/names.ts";
import type { KybOnboardingInput, OnboardingAssessment } from "../src/contracts/onboarding.ts";
import { searchAttributesOfOnboarding } from "../src/contracts/search-attributes.ts";
import { onboarding } from "./activities.ts";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);

/**
 * Takes a business through verification: waits for its people's data, sends each step in its turn,
 * polls the review, which no event tells of, and ends verified or expired.
 *
 * Histories hold references only: what is personal never leaves the vault but to the service.
 */
export async function kybOnboarding(input: KybOnboardingInput): Promise<string> {
  let looked = true;
  let shown = "";
  setHandler(eventsArrived, () => {
    looked = true;
  });
  for (;;) {
    looked = false;
    const now = await onboarding.assessOnboarding.executeWithOptions(
      { summary: `How far ${input.business} is` },
      [input],
    );
    shown = show(now, shown);
    if (now.ended) {
      // What was provided or launched anew meanwhile must not end with this execution.
      if (!looked) return now.phase;
      continue;
    }
    let pauseMs = now.wakeInMs;
    if (now.send !== null) {
      const { againInMs } = await onboarding.takeOnboardingStep.executeWithOptions(
        { summary: `Sends the step ${now.send.step} where the service doesn't have it` },
        [{ business: input.business, inputId: now.send.inputId }],
      );
      if (againInMs === 0) continue;
      pauseMs = againInMs;
    }
    if (workflowInfo().continueAsNewSuggested && !looked) {
      await continueAsNew<typeof kybOnboarding>(input);
    }
    await condition(() => looked, pauseMs, {
      summary: `${now.phase}: ${now.waitingFor ?? ""}`.slice(0, 150),
    });
  }
}

/** Shows a standing where it differs from the one that is shown. */
function show(now: OnboardingAssessment, shown: string): string {
  const standing = JSON.stringify([now.phase, now.needsAction, now.details]);
  if (standing === shown) return shown;
  setCurrentDetails(now.details);
  upsertSearchAttributes(searchAttributesOfOnboarding(now));
  return standing;
}
