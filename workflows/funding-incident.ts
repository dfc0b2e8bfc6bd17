import type { FundingIncidentInput, IncidentAssessment } from "../src/contracts/activities.ts";
import { fundingIncidentId } from "../src/contracts/workflow-kinds.ts";
import { ASKING_PHASE } from "../src/domain/asking-phases.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { steps } from "./activities.ts";
import { Deposits } from "./deposits.ts";
import { Turns } from "./turns.ts";

/**
 * How long it gathers bills before a look: thousands may join within minutes, and one look covers
 * all of them.
 */
const GATHERS_MS = 2_000;

/**
 * Holds a funding account whose payments bounced, for all runs, until a person has decided about
 * it. All of its failed bills wait for that one decision.
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
    attributes: ({ phase }) =>
      searchAttributes({ business, phase, needsAction: phase === ASKING_PHASE.fundingIncident }),
    act: (now) => {
      if (now.phase === "ended") return Promise.resolve({ result: now.outcome ?? "ended" });
      // Runs beside the turns, so that a decision counts even while the service is slow.
      if (now.toDeposit === true && turns.mayBegin) deposits.start();
      return Promise.resolve({ sleep: { wakeInMs: now.wakeInMs, gatherMs: GATHERS_MS } });
    },
    input: () => [input],
  });
}
