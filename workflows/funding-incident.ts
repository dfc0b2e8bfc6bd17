import {
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { FundingIncidentInput } from "../src/contracts/activities.ts";
import { fundingIncidentId, SIGNAL } from "../src/contracts/names.ts";
import { searchAttributesOfWaiting } from "../src/contracts/search-attributes.ts";
import { lanes, steps } from "./activities.ts";
import { rootMessage } from "./root-message.ts";

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
      await makeDeposits(fundingIncidentId(input.business, input.sourceId));
      continue;
    }
    await condition(() => looked, now.wakeInMs, {
      summary: now.waitingFor?.slice(0, 190) ?? "waits",
    });
  }
}

/** What fails is told, and the incident looks again where it stands. */
async function makeDeposits(owner: string): Promise<void> {
  try {
    const summary = "Makes and follows deposits into the balance";
    await lanes.makeDeposits.executeWithOptions({ summary }, [{ owner }]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = rootMessage(error, "it failed without a reason");
    await steps.tellTrouble.executeWithOptions({ summary: "Tells that makeDeposits has failed" }, [
      { owner, step: "makeDeposits", reason },
    ]);
  }
}
