import type { ApprovalRule, ApprovalStage, PayRunPlaybook } from "../../contracts/playbook.ts";
import { rolesAskedOf } from "./changed-records.ts";
import { missingText } from "./share-texts.ts";
import { escalatedStage, stageText } from "./stages.ts";

/** Bills of one rule that wait in one of its stages. */
export interface WaitingBills {
  readonly ruleIndex: number;
  /** From 0. */
  readonly stage: number;
  readonly escalated: boolean;
  /** Approvals that the stage has so far. */
  readonly given: number;
  /** True if they need one more person because an approval was hurried. */
  readonly isHurried: boolean;
  /** True if they are approved, and it is asked whether their vendors' accounts are still right. */
  readonly asksRecord: boolean;
  /** True if a hold applies to them as well. */
  readonly isHeld: boolean;
  readonly count: number;
  readonly cents: number;
  /** Business-clock time since which the first of them has waited; null if it isn't recorded. */
  readonly sinceMs: number | null;
  /** The same in real time. */
  readonly sinceRealMs: number | null;
  /** Business-clock time of the next reminder and of the escalation; null if there is none. */
  readonly remindAtMs: number | null;
  readonly escalateAtMs: number | null;
}

/** The waiting bills with the roles that are asked to approve them. */
export interface ApprovalAsk extends WaitingBills {
  readonly stages: number;
  readonly by: readonly string[];
  readonly quorum: number;
  /** Roles that may also decide after the escalation. */
  readonly escalatesTo: readonly string[];
}

/** True if a playbook's approvals depend on time: stages, escalations, reminders. */
export function asksInTime({ approve, remind }: PayRunPlaybook): boolean {
  return remind !== undefined || approve.some(({ stages }) => stages !== undefined);
}

/** Returns a stage of a rule, counted from 0; a rule without stages is its own only stage. */
export function stageOfRule(rule: ApprovalRule, stage: number): ApprovalStage {
  return rule.stages?.[stage] ?? { by: rule.by, quorum: rule.quorum };
}

/**
 * Returns the approval that these bills wait for; undefined for bills planned before rules were
 * stored.
 */
export function askOf({ approve }: PayRunPlaybook, waiting: WaitingBills): ApprovalAsk | undefined {
  const rule = approve[waiting.ruleIndex];
  if (rule === undefined) return undefined;
  if (waiting.asksRecord) {
    const one = { stages: 1, stage: 0, given: 0, quorum: 1, escalatesTo: [] };
    return { ...waiting, ...one, by: rolesAskedOf(rule, escalatedStage(waiting)) };
  }
  const { by, quorum, escalate } = stageOfRule(rule, waiting.stage);
  const stages = rule.stages?.length ?? 1;
  const people = quorum + (waiting.isHurried ? 1 : 0);
  return { ...waiting, stages, by, quorum: people, escalatesTo: escalate?.to ?? [] };
}

/** Returns the roles that can decide now. */
export function askedRoles({ by, escalated, escalatesTo }: ApprovalAsk): readonly string[] {
  return escalated ? [...by, ...escalatesTo] : by;
}

/**
 * Says who must approve: `controller`, `2 people of owner`; once one of the two has approved,
 * `a second person (owner)`.
 */
export function neededText({
  by,
  quorum,
  given,
}: Pick<ApprovalAsk, "by" | "quorum" | "given">): string {
  const stage = { by, quorum };
  return given === 0 ? stageText(stage) : missingText({ ...stage, approvals: given });
}

/** Says who must approve, and in which stage if there are several: `controller (stage 1 of 2)`. */
export function askText(ask: ApprovalAsk): string {
  const who = neededText({ ...ask, by: askedRoles(ask) });
  if (ask.asksRecord) return `${who}, who says whether the vendor's account is still right`;
  return ask.stages === 1 ? who : `${who} (stage ${ask.stage + 1} of ${ask.stages})`;
}
