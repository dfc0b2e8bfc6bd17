import type { PlanDryInput } from "../src/contracts/activities.ts";
import { reads } from "./activities.ts";

/** Somebody waits for the answer: what is not read in a few tries is told them as it is. */
const TRIES = { initialInterval: "500ms", maximumAttempts: 4 } as const;

/** Computes a plan on the worker, by the code that real runs use, and stores it for a day. */
export async function planDry(input: PlanDryInput): Promise<void> {
  await reads.planDry.executeWithOptions(
    { summary: `Plans ${input.playbook}, dry`, retry: TRIES },
    [input],
  );
}
