import type { RetryAssessment, RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { ASKING_PHASE } from "../src/domain/asking-phases.ts";
import { money, retries } from "./activities.ts";
import { Turns } from "./turns.ts";

/** Summaries of the look, by the retry's last phase. */
const REVIEWS = {
  begun: "Reads what became of the payment of",
  following: "Reads what became of the new payment of",
  parked: "Reviews whether a person has decided about",
  ended: "Reads what became of the payment of",
} as const;

/**
 * Owns one failed or returned payable: classifies the failure, waits for the next banking day or a
 * person's decision, pays again within Nacha's limits, and follows the new payment to its end.
 */
export async function retryFailedPayment(input: RetryFailedPaymentInput): Promise<string> {
  const { business, payableId } = input;
  let known = input;
  let about = `bill ${payableId}`;
  let phase: RetryAssessment["phase"] | "begun" = "begun";
  return new Turns().toTheEnd<RetryAssessment, string>({
    look: async () => {
      const now = await (phase === "waiting" || phase === "pay"
        ? money.payAgain.executeWithOptions(
            { summary: `Pays ${about} again if no hold applies to it` },
            [known],
          )
        : retries.reviewFailedPayment.executeWithOptions(
            { summary: `${REVIEWS[phase]} ${about}` },
            [known],
          ));
      phase = now.phase;
      about = now.about ?? about;
      if (now.auditHead !== undefined) known = { ...input, seen: now.auditHead };
      return now;
    },
    attributes: ({ phase: now }) =>
      searchAttributes({
        business,
        // "pay" lasts for one turn only, so the list shows "waiting".
        phase: now === "pay" ? "waiting" : now,
        needsAction: now === ASKING_PHASE.retryFailedPayment,
      }),
    act: async (now) => {
      if (now.phase === "ended") return { result: now.outcome ?? "ended" };
      return now.phase === "pay" ? "look" : "sleep";
    },
    input: () => [known],
  });
}
