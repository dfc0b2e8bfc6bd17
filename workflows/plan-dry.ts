import type { PlanDryInput } from "../src/contracts/activities.ts";
import { shortName } from "../src/contracts/workflow-kinds.ts";
import { reads } from "./activities.ts";

/** The caller waits for the plan, so the error is returned after a few failed tries. */
const TRIES = { initialInterval: "500ms", maximumAttempts: 4 } as const;

/** Computes a plan on the worker, with the code that real runs use, and stores it for a day. */
export async function planDry(input: PlanDryInput): Promise<void> {
  await reads.planDry.executeWithOptions(
    { summary: `Plans ${shortName(input.dryPlanId)}, dry`, retry: TRIES },
    [{ dryPlanId: input.dryPlanId }],
  );
}
