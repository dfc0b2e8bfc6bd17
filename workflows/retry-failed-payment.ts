import type { RetryAssessment, RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { money, retries } from "./activities.ts";
import { Turns } from "./turns.ts";

/** The service says soon what it was asked to pay: one look for both. */
const EVENT_COMES_MS = 1_000;

/** What a look is for, by how far it was before. */
const REVIEWS = {
  begun: "Reads what became of the payment of",
  waiting: "Reviews whether it is time to pay again:",
  pay: "Reads what became of the new payment of",
  following: "Reads what became of the new payment of",
  parked: "Reviews whether a person has decided about",
  ended: "Reads what became of the payment of",
} as const;

/**
 * Owns one failed or returned payable from then on: classifies, waits for the next banking day or
 * a person, pays again within Nacha's limits, and follows what it paid to its end.
 */
export async function retryFailedPayment(input: RetryFailedPaymentInput): Promise<string> {
  const { business, payableId } = input;
  let known = input;
  let about = `bill ${payableId}`;
  let phase: RetryAssessment["phase"] | "begun" = "begun";
  return new Turns().toTheEnd<RetryAssessment, string>({
    look: async () => {
      const summary = `${REVIEWS[phase]} ${about}`;
      const now = await retries.reviewFailedPayment.executeWithOptions({ summary }, [known]);
      phase = now.phase;
      about = now.about ?? about;
      if (now.auditHead !== undefined) known = { ...input, seen: now.auditHead };
      return now;
    },
    attributes: ({ phase: now }) =>
      searchAttributes({
        business,
        // It pays within the same turn: nobody could see it before it follows the payment.
        phase: now === "pay" ? "waiting" : now,
        needsAction: now === "parked",
      }),
    act: async (now) => {
      if (now.phase === "ended") return { result: now.outcome ?? "ended" };
      if (now.phase !== "pay") return "rest";
      await money.payAgain.executeWithOptions({ summary: `Pays ${about} again` }, [known]);
      return { lookInMs: EVENT_COMES_MS };
    },
    input: () => [known],
  });
}
