import { definedOnly } from "../../contracts/defined-only.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import type { ApprovalRule } from "../../contracts/playbook.ts";

/** The facts that a rule tests. */
export interface RuleFacts {
  readonly amountCents: number;
  /** True if one of the playbook's review reasons flagged the line. */
  readonly inReview: boolean;
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
): { readonly rule: ApprovalRule; readonly index: number } {
  for (const [index, rule] of rules.entries()) {
    if (rule.review && !facts.inReview) continue;
    if (rule.overCents !== null && facts.amountCents <= rule.overCents) continue;
    if (rule.where !== null && !matchesCondition(rule.where)) continue;
    return { rule, index };
  }
  throw new RangeError(
    "no approval rule matches a line: the last rule of a playbook must match all",
  );
}

/** Returns the fields of a rule that a plan line stores. */
export function ruleOfLine(
  rule: ApprovalRule,
  index: number,
): Pick<PlanLine, "ruleIndex" | "approvers" | "quorum" | "stages"> {
  const { by, quorum, stages } = rule;
  return {
    ruleIndex: index,
    approvers: by,
    quorum,
    ...definedOnly({ stages }),
  };
}

/** Returns every role that may approve under a rule, in any stage or after an escalation. */
export function rolesOfRule({ by, stages = [] }: ApprovalRule): readonly string[] {
  return [...new Set([...by, ...stages.flatMap(({ escalate }) => escalate?.to ?? [])])];
}
