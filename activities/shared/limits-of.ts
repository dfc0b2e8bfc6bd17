import { type LimitsInForce, limitsInForce } from "../../src/domain/planning/limits.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import type { ActivityContext } from "./context.ts";

/** Returns the limits in force for a run now: its playbook's, and those of its business's profile. */
export function limitsOf(
  context: ActivityContext,
  { business, policy }: Pick<Run, "business" | "policy">,
): LimitsInForce {
  return limitsInForce(policy.limits, context.profileOf(business).limits);
}
