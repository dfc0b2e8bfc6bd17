import type {
  CancellationAssessment,
  CancellationPhase,
  CancelScheduledInput,
} from "../src/contracts/cancellation.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { counted } from "../src/domain/counted.ts";
import { cancels, steps } from "./activities.ts";
import { type Next, Turns } from "./turns.ts";

/**
 * Holds bills back until a person releases them, or cancels payments that the service has
 * scheduled, before 9:00 New York on their date. Follows the money until it is back.
 *
 * The workflow decides nothing: in each turn, an activity says where the cancellation stands and
 * what to do next. Signals only say "look".
 */
export async function cancelScheduledPayments(
  input: CancelScheduledInput,
): Promise<CancellationPhase> {
  return new Turns().toTheEnd<CancellationAssessment, CancellationPhase>({
    look: () =>
      steps.reviewCancellation.executeWithOptions(
        { summary: "Reviews what is cancelled, held back or on its way back" },
        [input],
      ),
    attributes: ({ phase, needsAction, exceptions, totalCents }) =>
      searchAttributes({ phase, needsAction, exceptions, totalCents }),
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
    const summary = "Chooses the payments or bills, and puts the bills on hold";
    await cancels.choosePayments.executeWithOptions({ summary }, [input]);
    return "look";
  }
  if (now.toCancel > 0) {
    const summary = `Cancels ${counted(now.toCancel, "payment")}`;
    await cancels.cancelPayments.executeWithOptions({ summary }, [input]);
    return "look";
  }
  if (now.toFollow > 0) {
    const summary = `Reads whether ${counted(now.toFollow, "refund")} arrived`;
    await cancels.followRefunds.executeWithOptions({ summary }, [input]);
    return "look";
  }
  return "sleep";
}
