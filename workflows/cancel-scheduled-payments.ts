import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type {
  CancellationAssessment,
  CancellationPhase,
  CancelScheduledInput,
} from "../src/contracts/cancellation.ts";
import { QUERY, SIGNAL } from "../src/contracts/names.ts";
import { searchAttributesOfCancellation } from "../src/contracts/search-attributes.ts";
import { lookups, money, steps } from "./activities.ts";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);
const progress = defineQuery<CancellationAssessment | null>(QUERY.progress);

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
  let looked = true;
  let last: CancellationAssessment | null = null;
  setHandler(eventsArrived, () => {
    looked = true;
  });
  setHandler(progress, () => last);
  for (;;) {
    looked = false;
    const now = await steps.assessCancellation.executeWithOptions(
      { summary: "Where the cancellation stands" },
      [input],
    );
    setCurrentDetails(now.details);
    if (hasMoved(last, now)) upsertSearchAttributes(searchAttributesOfCancellation(now));
    last = now;
    if (now.ended) {
      // A signal that came meanwhile must not end with this workflow.
      if (!looked) return now.phase;
      continue;
    }
    if (now.toChoose) {
      await lookups.chooseCancellation.executeWithOptions(
        { summary: "Chooses the payments, and holds their bills" },
        [input],
      );
      continue;
    }
    if (now.toCancel > 0) {
      await money.cancelLane.executeWithOptions({ summary: `Cancels ${now.toCancel} payments` }, [
        input,
      ]);
      continue;
    }
    if (now.toFollow > 0) {
      await lookups.followRefunds.executeWithOptions({ summary: `Reads ${now.toFollow} refunds` }, [
        input,
      ]);
      continue;
    }
    if (workflowInfo().continueAsNewSuggested && !looked) {
      await continueAsNew<typeof cancelScheduledPayments>(input);
    }
    await condition(() => looked, now.wakeInMs, { summary: now.waitingFor ?? now.phase });
  }
}

function hasMoved(last: CancellationAssessment | null, now: CancellationAssessment): boolean {
  return (
    last === null ||
    last.phase !== now.phase ||
    last.needsAction !== now.needsAction ||
    last.exceptions !== now.exceptions ||
    last.totalCents !== now.totalCents
  );
}
