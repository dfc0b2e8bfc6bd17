import type { Look } from "../../src/contracts/look.ts";
import { inMarkdown } from "../../src/domain/others-text.ts";

/** Returns the last look of a retry or an incident, which says how it ended. */
export function endedLook(
  outcome: string,
): Look & { readonly phase: "ended"; readonly outcome: string } {
  return {
    phase: "ended",
    waitingFor: null,
    wakeInMs: 0,
    details: `Ended: ${inMarkdown(outcome)}.`,
    outcome,
  };
}
