import type { PlanDryInput } from "../../src/contracts/activities.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { payRunId } from "../../src/contracts/workflow-kinds.ts";
import { ONLY_PLANS, onlyPlans } from "../../src/domain/plan-only.ts";
import { laxerWarnings } from "../../src/domain/planning/limits.ts";
import { getPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { openDryPlan, saveDryPlan } from "../../src/store/plans/dry-plans.ts";
import type { ActivityContext } from "../shared/context.ts";
import { PlanRefusedError } from "../shared/plan-refused-error.ts";
import { makePlan, readForPlan, type PlanSubject, unclaimed } from "./make-plan.ts";

/** Plans as a run would, claims nothing, and keeps only the result, for the person who asked. */
export async function planDry(context: ActivityContext, input: PlanDryInput): Promise<void> {
  const { dryPlanId } = input;
  const asked = await openDryPlan(context.store.db, dryPlanId);
  if (asked === undefined) return;
  const { business, period } = asked;
  const { policy, revision } = asked.unstored ?? (await storedPolicy(context, asked));
  const { businessId, limits } = context.profileOf(business);
  const subject: PlanSubject = {
    runId: payRunId(business, asked.playbook, period, 1),
    business,
    businessId,
    playbook: policy,
    playbookRevision: revision,
    period,
    offCycle: null,
  };
  const reading = await readForPlan(context, subject);
  const selection = await unclaimed(context, subject, reading);
  const { summary, lines, skipped } = await makePlan(context, subject, { ...reading, selection });
  const isDecided = !onlyPlans(policy);
  const told = [
    ...(isDecided ? [] : [`A launch pays nothing: ${ONLY_PLANS}.`]),
    ...laxerWarnings(policy.limits, limits),
  ];
  const warnings = [...told, ...(summary.warnings ?? [])];
  const decideBy = isDecided ? summary.decideBy : null;
  const plan = {
    ...summary,
    decideBy,
    business,
    playbook: asked.playbook,
    period,
    lines,
    skipped,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  await saveDryPlan(context.store.db, { dryPlanId, plan, nowMs: Date.now() });
}

async function storedPolicy(
  context: ActivityContext,
  { business, playbook: name }: { readonly business: string; readonly playbook: string },
): Promise<{ policy: PayRunPlaybook; revision: number }> {
  const stored = await getPlaybook(context.store.db, { business, name });
  if (stored === undefined) {
    throw new PlanRefusedError(`There is no playbook “${name}” in the store.`);
  }
  if (stored.compiled.kind !== "pay-run") {
    throw new PlanRefusedError(`The playbook “${name}” pays no bills: it is a ${stored.kind}.`);
  }
  return { policy: stored.compiled, revision: stored.revision };
}
