import { checkAsking, checkStages, writtenRules } from "./check-stages.ts";
import { flagsIn } from "../../conditions.ts";
import { shown } from "../../texts.ts";
import { isRecord } from "../../../contracts/is-record.ts";
import { ALWAYS_FLAGGED, REVIEW_REASONS } from "../../../contracts/playbook.ts";
import { repeated } from "../../check-values.ts";
import {
  type ApprovalRuleInput,
  approvalRuleSchema,
  payRunDefaults,
  payRunSchema,
} from "./schema.ts";
import { checkEvents } from "../../events.ts";
import type { Issue, Path } from "../../source.ts";
import { checkSchedule } from "../../schedule.ts";

/**
 * Finds mistakes between values that are each valid alone: keys that exclude each other,
 * repetitions, approval rules that can never be reached, bills that no rule would cover.
 *
 * Works on a playbook as written, so that it also reports these if other values are wrong.
 */
export function checkPayRun(playbook: unknown): Issue[] {
  if (!isRecord(playbook)) return [];
  return [
    ...checkSchedule(playbook["schedule"]),
    ...checkTopUp(playbook["pay"]),
    ...checkReview(playbook["review"]),
    ...checkApprove(playbook),
    ...checkAsking(playbook),
    ...checkEvents(playbook["events"]),
  ];
}

/** Finds deposits that could never be made or never help. */
function checkTopUp(pay: unknown): Issue[] {
  if (!isRecord(pay)) return [];
  const { topUp, from, whenShort } = pay;
  if (!isRecord(topUp)) return [];
  const issues = Array.isArray(topUp["by"]) ? repeated(topUp["by"], ["pay", "topUp", "by"]) : [];
  if (from !== "balance") {
    issues.push({
      path: ["pay", "topUp"],
      anchor: "key",
      message: `money can be deposited only into the balance, and these bills are paid from ${shown(from ?? payRunDefaults.pay.from)}`,
      expected: "`from: balance` beside `topUp`, or no `topUp`",
    });
  }
  if (whenShort === "stop") {
    issues.push({
      path: ["pay", "topUp"],
      anchor: "key",
      message: "`whenShort: stop` leaves bills to a person before a deposit could arrive",
      expected: "`whenShort: most-urgent-first` or `wait`, or no `topUp`",
    });
  }
  return issues;
}

function checkReview(review: unknown): Issue[] {
  return Array.isArray(review) ? repeated(review, ["review"]) : [];
}

function checkApprove(playbook: Readonly<Record<string, unknown>>): Issue[] {
  const { rules: written, path: above } = writtenRules(playbook);
  const rules = written.map((rule) => approvalRuleSchema.safeParse(rule).data);
  const review = payRunSchema.shape.review.safeParse(playbook["review"]).data;
  const issues = written.flatMap((rule, index) =>
    isRecord(rule) ? checkStages(rule, [...above, index]) : [],
  );
  rules.forEach((rule, index) => {
    if (rule === undefined) return;
    const path = [...above, index];
    if (review !== undefined) issues.push(...checkFlags(rule, path, review));
    const before = rules.findIndex(
      (other, i) => i < index && other !== undefined && covers(other, rule),
    );
    if (before >= 0) {
      issues.push({
        path,
        anchor: "value",
        message: `this rule is never reached: rule ${before + 1} matches every bill that it would`,
        expected: "narrower rules first, the one for every bill last",
      });
    }
  });
  const last = rules.at(-1);
  if (last !== undefined && !rules.some((rule) => rule !== undefined && matchesAll(rule))) {
    issues.push({
      path: [...above, rules.length - 1],
      anchor: "value",
      message: "a bill that no rule matches could never be approved",
      expected: "a last rule that matches every bill, such as `- { by: [controller, owner] }`",
    });
  }
  return issues;
}

/** Finds what a rule's condition looks for although nothing is flagged for it. */
function checkFlags({ where }: ApprovalRuleInput, path: Path, review: readonly string[]): Issue[] {
  return (where === undefined ? [] : flagsIn(where)).flatMap(({ flag, range }): Issue[] => {
    const reason = REVIEW_REASONS.find((each) => each === flag);
    if (reason === undefined || reason === ALWAYS_FLAGGED || review.includes(reason)) return [];
    return [
      {
        path: [...path, "where"],
        anchor: "value",
        range,
        message: `no bill is flagged as \`${reason}\`, because \`review\` doesn't name it`,
        expected: `\`review: [${[...review, reason].join(", ")}]\``,
      },
    ];
  });
}

function matchesAll(rule: ApprovalRuleInput): boolean {
  return rule.when === undefined && rule.over === undefined && rule.where === undefined;
}

/** True if `first` matches everything that `second` matches. */
function covers(first: ApprovalRuleInput, second: ApprovalRuleInput): boolean {
  if (first.where !== undefined && first.where !== second.where) return false;
  if (first.when !== undefined && first.when !== second.when) return false;
  if (first.over === undefined) return true;
  if (second.over === undefined || first.over.amount > second.over.amount) return false;
  // With what its vendor is paid besides, a bill is never less than alone.
  return first.over.per === second.over.per || second.over.per === "bill";
}
