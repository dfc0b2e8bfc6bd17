import { isCancellation } from "@temporalio/workflow";
import type { FundingIncidentInput, IncidentAssessment } from "../src/contracts/activities.ts";
import { fundingIncidentId } from "../src/contracts/names.ts";
import { searchAttributesOfWaiting } from "../src/contracts/search-attributes.ts";
import { lanes, steps } from "./activities.ts";
import { rootMessage } from "./root-message.ts";
import { Turns } from "./turns.ts";

/**
 * One funding account that bounced: held for all runs, until one person has decided. Its bills
 * wait for it, however many they are.
 */
export async function fundingIncident(input: FundingIncidentInput): Promise<string> {
  const { business, sourceId } = input;
  return new Turns().toTheEnd<IncidentAssessment, string>({
    look: () =>
      steps.reviewIncident.executeWithOptions(
        { summary: `Reviews ${sourceId}: has a person decided, has money arrived?` },
        [input],
      ),
    attributes: ({ phase }) =>
      searchAttributesOfWaiting({ business, phase, needsAction: phase === "open" }),
    act: async (now) => {
      if (now.phase === "ended") return { result: now.outcome ?? "ended" };
      if (now.toDeposit !== true) return "rest";
      await makeDeposits(fundingIncidentId(business, sourceId));
      return "look";
    },
    input: () => [input],
  });
}

/** What fails is told, and the incident looks again where it stands. */
async function makeDeposits(owner: string): Promise<void> {
  try {
    const summary = "Makes and follows deposits into the balance";
    await lanes.makeDeposits.executeWithOptions({ summary }, [{ owner }]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = rootMessage(error, "it failed without a reason");
    await steps.notifyOperators.executeWithOptions(
      { summary: "Notifies operators: makeDeposits has failed" },
      [{ owner, step: "makeDeposits", reason }],
    );
  }
}
