import { definedOnly } from "../../contracts/defined-only.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import type { ApprovalRule, SumPer } from "../../contracts/playbook.ts";

/** The facts that a rule tests. */
export interface RuleFacts {
  /** The whole bill, also for a part. */
  readonly billCents: number;
  /** What its vendor is paid besides; missing if nothing. */
  readonly besidesCents?: Readonly<Record<SumPer, number>> | undefined;
  /** True if one of the playbook's review reasons flagged the line. */
  readonly inReview: boolean;
}

/** The rule that applies to a line. */
export interface FoundRule {
  readonly rule: ApprovalRule;
  readonly index: number;
  /** Earlier rules that it would fall under if its vendor were paid more. */
  readonly sumRules: readonly number[];
}

/**
 * Finds the rule that applies to a line, and its position: the first that matches.
 *
 * @param matchesCondition evaluates a rule's CEL condition for this line
 * @throws {RangeError} if none matches; loading a playbook makes sure that the last rule does
 */
export function ruleFor(
  facts: RuleFacts,
  rules: readonly ApprovalRule[],
  matchesCondition: (condition: string) => boolean,
): FoundRule {
  const sumRules: number[] = [];
  for (const [index, rule] of rules.entries()) {
    const { overCents, overPer } = rule;
    if (rule.review && !facts.inReview) continue;
    const besides = overPer === undefined ? 0 : (facts.besidesCents?.[overPer] ?? 0);
    const isOver = overCents === null || facts.billCents + besides > overCents;
    if (!isOver && overPer === undefined) continue;
    if (rule.where !== null && !matchesCondition(rule.where)) continue;
    if (isOver) return { rule, index, sumRules };
    sumRules.push(index);
  }
  throw new RangeError(
    "no approval rule matches a line: the last rule of a playbook must match all",
  );
}

/** Returns the fields of a rule that a plan line stores. */
export function ruleOfLine({
  rule: { by, quorum, stages },
  index,
  sumRules,
}: FoundRule): Pick<PlanLine, "ruleIndex" | "sumRules" | "approvers" | "quorum" | "stages"> {
  return {
    ruleIndex: index,
    approvers: by,
    quorum,
    ...definedOnly({ stages, sumRules: sumRules.length === 0 ? undefined : sumRules }),
  };
}

/** Returns every role that may approve under a rule, in any stage or after an escalation. */
export function rolesOfRule({
  by,
  stages = [],
}: Pick<ApprovalRule, "by" | "stages">): readonly string[] {
  return [...new Set([...by, ...stages.flatMap(({ escalate }) => escalate?.to ?? [])])];
}
