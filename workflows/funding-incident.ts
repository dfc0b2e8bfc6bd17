import type { FundingIncidentInput, IncidentAssessment } from "../src/contracts/activities.ts";
import { fundingIncidentId } from "../src/contracts/names.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { steps } from "./activities.ts";
import { Deposits } from "./beside.ts";
import { Turns } from "./turns.ts";

/**
 * One funding account that bounced: held for all runs, until one person has decided. Its bills
 * wait for it, however many they are.
 */
export async function fundingIncident(input: FundingIncidentInput): Promise<string> {
  const { business, sourceId } = input;
  const turns = new Turns();
  const deposits = new Deposits(turns, fundingIncidentId(business, sourceId));
  return turns.toTheEnd<IncidentAssessment, string>({
    look: () =>
      steps.reviewIncident.executeWithOptions(
        { summary: `Reviews ${sourceId}: has a person decided, has money arrived?` },
        [input],
      ),
    attributes: ({ phase }) => searchAttributes({ business, phase, needsAction: phase === "open" }),
    act: (now) => {
      if (now.phase === "ended") return Promise.resolve({ result: now.outcome ?? "ended" });
      // Beside, so that a decision is heard while the service is slow.
      if (now.toDeposit === true) deposits.start();
      return Promise.resolve("rest");
    },
    input: () => [input],
  });
}
