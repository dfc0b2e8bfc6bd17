import type { PlanLine } from "../contracts/pay-run.ts";
import { type LimitsInForce, type OverLimit, overBillLimit } from "../domain/planning/limits.ts";
import type { CommittedSums, WeighedLine } from "../store/lines/committed-sums.ts";
import type { Closed } from "./gate.ts";

/**
 * Says which limit, as the limits are now, keeps a line from being paid, or which rule it would
 * have to be approved under because of what else is paid; null if nothing does.
 */
export async function refusedBySums(
  sums: CommittedSums,
  limits: LimitsInForce,
  line: WeighedLine,
  plan: PlanLine,
): Promise<Closed | null> {
  const over = plan.overLimit ?? overBillLimit(plan, limits);
  if (over !== null) return overLimit(over);
  const refusal = await sums.refusal(line, plan);
  if (refusal === null) return null;
  return refusal.kind === "limit"
    ? overLimit(refusal)
    : { code: "other_rule", reason: refusal.text, ruleIndex: refusal.index };
}

function overLimit({ code, text }: OverLimit): Closed {
  return { code, reason: text };
}
