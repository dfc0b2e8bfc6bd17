import { planDry } from "../../activities/runs/plan-dry.ts";
import type { ActivityContext } from "../../activities/shared/context.ts";
import type { DryPlanAsked } from "../../src/contracts/activities.ts";
import { askForDryPlan } from "../../src/store/plans/dry-plans.ts";

/** Asks for a dry plan, as the gateway does, and makes it. */
export async function dryPlan(
  context: ActivityContext,
  { dryPlanId, ...asked }: DryPlanAsked & { readonly dryPlanId: string },
): Promise<void> {
  await askForDryPlan(context.store.db, dryPlanId, asked, Date.now());
  await planDry(context, { dryPlanId });
}
