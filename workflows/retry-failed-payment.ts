import {
  condition,
  continueAsNew,
  defineSignal,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { SIGNAL } from "../src/contracts/names.ts";
import { searchAttributesOfWaiting } from "../src/contracts/search-attributes.ts";
import { money, steps } from "./activities.ts";

/** Retries that began before it show nothing in Temporal's list. */
const SHOWS_ATTRIBUTES = "shows-attributes";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);

/**
 * Owns one failed or returned payable from then on: classifies, waits for the next banking day or
 * a person, pays again within Nacha's limits, and follows what it paid to its end.
 */
export async function retryFailedPayment(input: RetryFailedPaymentInput): Promise<string> {
  let looked = true;
  let shown: string | null = null;
  let known = input;
  setHandler(eventsArrived, () => {
    looked = true;
  });
  for (;;) {
    looked = false;
    const now = await steps.assessRetry.executeWithOptions(
      { summary: `Where ${input.payableId} stands` },
      [known],
    );
    if (now.auditHead !== undefined) known = { ...input, seen: now.auditHead };
    setCurrentDetails(now.details);
    if (now.phase !== shown && patched(SHOWS_ATTRIBUTES)) {
      const { business } = input;
      const needsAction = now.phase === "parked";
      upsertSearchAttributes(
        searchAttributesOfWaiting({ business, phase: now.phase, needsAction }),
      );
    }
    shown = now.phase;
    if (now.phase === "ended") {
      // An event or a person's request that came meanwhile must not end with this owner.
      if (!looked || !patched("looks-before-ending")) return now.outcome ?? "ended";
      continue;
    }
    if (now.phase === "pay") {
      await money.payRetry.executeWithOptions({ summary: `Pays ${input.payableId} again` }, [
        known,
      ]);
      continue;
    }
    if (workflowInfo().continueAsNewSuggested && !looked) {
      await continueAsNew<typeof retryFailedPayment>(known);
    }
    await condition(() => looked, now.wakeInMs, { summary: now.waitingFor ?? now.phase });
  }
}
