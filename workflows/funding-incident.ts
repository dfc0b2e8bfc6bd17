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
import type { FundingIncidentInput } from "../src/contracts/activities.ts";
import { fundingIncidentId, SIGNAL } from "../src/contracts/names.ts";
import { searchAttributesOfWaiting } from "../src/contracts/search-attributes.ts";
import { money, steps } from "./activities.ts";

/** Incidents that began before it show nothing in Temporal's list. */
const SHOWS_ATTRIBUTES = "shows-attributes";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);

/**
 * One funding account that bounced: held for all runs, until one person has decided. Its bills
 * wait for it, however many they are.
 */
export async function fundingIncident(input: FundingIncidentInput): Promise<string> {
  let looked = true;
  let shown: string | null = null;
  setHandler(eventsArrived, () => {
    looked = true;
  });
  for (;;) {
    looked = false;
    const now = await steps.assessIncident.executeWithOptions(
      { summary: `Where ${input.sourceId} stands` },
      [input],
    );
    setCurrentDetails(now.details);
    if (now.phase !== shown && patched(SHOWS_ATTRIBUTES)) {
      const { business } = input;
      const needsAction = now.phase === "open";
      upsertSearchAttributes(
        searchAttributesOfWaiting({ business, phase: now.phase, needsAction }),
      );
    }
    shown = now.phase;
    if (now.phase === "ended") {
      // A payment that bounced meanwhile may have opened the next round.
      if (!looked) return now.outcome ?? "ended";
      continue;
    }
    if (workflowInfo().continueAsNewSuggested && !looked) {
      await continueAsNew<typeof fundingIncident>(input);
    }
    if (now.toDeposit === true) {
      await money.makeDeposits
        .executeWithOptions({ summary: "Makes and follows deposits into the balance" }, [
          { owner: fundingIncidentId(input.business, input.sourceId) },
        ])
        .catch(() => undefined);
      continue;
    }
    await condition(() => looked, now.wakeInMs, {
      summary: now.waitingFor?.slice(0, 190) ?? "waits",
    });
  }
}
