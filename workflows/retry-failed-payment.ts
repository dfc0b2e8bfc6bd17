import type { RetryAssessment, RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { searchAttributesOfWaiting } from "../src/contracts/search-attributes.ts";
import { money, retries } from "./activities.ts";
import { Turns } from "./turns.ts";

/**
 * Owns one failed or returned payable from then on: classifies, waits for the next banking day or
 * a person, pays again within Nacha's limits, and follows what it paid to its end.
 */
export async function retryFailedPayment(input: RetryFailedPaymentInput): Promise<string> {
  const { business, payableId } = input;
  let known = input;
  return new Turns().toTheEnd<RetryAssessment, string>({
    look: async () => {
      const summary = `Where ${payableId} stands`;
      const now = await retries.assessRetry.executeWithOptions({ summary }, [known]);
      if (now.auditHead !== undefined) known = { ...input, seen: now.auditHead };
      return now;
    },
    attributes: ({ phase }) =>
      searchAttributesOfWaiting({ business, phase, needsAction: phase === "parked" }),
    act: async (now) => {
      if (now.phase === "ended") return { result: now.outcome ?? "ended" };
      if (now.phase !== "pay") return "rest";
      await money.payRetry.executeWithOptions({ summary: `Pays ${payableId} again` }, [known]);
      return "look";
    },
    input: () => [known],
  });
}
