import type { PlanDryInput } from "../src/contracts/activities.ts";
import { reads } from "./activities.ts";

/** Computes a plan on the worker, by the code that real runs use, and stores it for a day. */
export async function planDry(input: PlanDryInput): Promise<void> {
  await reads.planDry.executeWithOptions({ summary: `Plans ${input.playbook}, dry` }, [input]);
}
