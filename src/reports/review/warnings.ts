import type { ActionContext } from "../../actions/context.ts";
import { OPEN_TOP_UP_STATES, type TopUpState } from "../../contracts/deposit.ts";
import type { PlanSummary } from "../../contracts/pay-run.ts";
import { isShortWarning } from "../../domain/deposits/terms.ts";
import type { TopUp } from "../../store/deposits/deposits.ts";
import type { Run } from "../../store/runs/runs.ts";
import { whySourcesCantPay } from "./sources-now.ts";

/** States of a deposit that the run asks for, or has: that none can be proposed was true before. */
const MAKES_GOOD: readonly TopUpState[] = [...OPEN_TOP_UP_STATES, "completed"];

/** Warnings of the plan, and of accounts that have stopped paying since it was made. */
export async function warningsOf(
  { profiles, clientOf }: Pick<ActionContext, "profiles" | "clientOf">,
  { businessId }: Run,
  {
    summary,
    topUps,
    unsentSources,
  }: {
    readonly summary: PlanSummary | undefined;
    readonly topUps: readonly TopUp[];
    readonly unsentSources: readonly string[];
  },
): Promise<string[]> {
  const profile = profiles.byBusinessId(businessId);
  const now =
    profile === undefined ? [] : await whySourcesCantPay(clientOf(profile), unsentSources);
  const isMadeGood = topUps.some(({ state }) => MAKES_GOOD.includes(state));
  const planned = (summary?.warnings ?? []).filter((text) => !isMadeGood || !isShortWarning(text));
  return [...new Set([...planned, ...now])];
}
