import type {
  CancellationAssessment,
  CancellationPhase,
  CancelScheduledInput,
} from "../src/contracts/cancellation.ts";
import { searchAttributesOfCancellation } from "../src/contracts/search-attributes.ts";
import { cancels, steps } from "./activities.ts";
import { type Next, Turns } from "./turns.ts";

/**
 * Keeps bills from being sent until somebody releases them, or cancels what the service has
 * scheduled, before 9:00 New York on its date, and follows the money until it is back.
 *
 * It decides nothing itself: each turn an activity says where the cancellation stands and what
 * there is to do. Signals only say "look".
 */
export async function cancelScheduledPayments(
  input: CancelScheduledInput,
): Promise<CancellationPhase> {
  return new Turns().toTheEnd<CancellationAssessment, CancellationPhase>({
    look: () =>
      steps.assessCancellation.executeWithOptions({ summary: "Where the cancellation stands" }, [
        input,
      ]),
    attributes: searchAttributesOfCancellation,
    act: (now) => act(input, now),
    input: () => [input],
  });
}

async function act(
  input: CancelScheduledInput,
  now: CancellationAssessment,
): Promise<Next<CancellationPhase>> {
  if (now.ended) return { result: now.phase };
  if (now.toChoose) {
    const summary = "Chooses the payments, and holds their bills";
    await cancels.chooseCancellation.executeWithOptions({ summary }, [input]);
    return "look";
  }
  if (now.toCancel > 0) {
    const summary = `Cancels ${now.toCancel} payments`;
    await cancels.cancelLane.executeWithOptions({ summary }, [input]);
    return "look";
  }
  if (now.toFollow > 0) {
    const summary = `Reads ${now.toFollow} refunds`;
    await cancels.followRefunds.executeWithOptions({ summary }, [input]);
    return "look";
  }
  return "rest";
}
