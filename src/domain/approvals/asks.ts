import type { ApprovalRule, ApprovalStage, PayRunPlaybook } from "../../contracts/playbook.ts";
import { stageText } from "./stages.ts";

/** Bills of one rule that wait in one of its stages. */
export interface WaitingBills {
  readonly ruleIndex: number;
  /** From 0. */
  readonly stage: number;
  readonly escalated: boolean;
  readonly count: number;
  readonly cents: number;
  /** Business-clock instant since which the first of them waits; null where nobody keeps it. */
  readonly sinceMs: number | null;
  /** The same in real time. */
  readonly sinceRealMs: number | null;
  /** Business-clock instants of what comes next, where something does. */
  readonly remindAtMs: number | null;
  readonly escalateAtMs: number | null;
}

/** Who is asked to approve them. */
export interface ApprovalAsk extends WaitingBills {
  readonly stages: number;
  readonly by: readonly string[];
  readonly quorum: number;
  /** Who may decide as well once it is escalated. */
  readonly escalatesTo: readonly string[];
}

/** Whether a playbook's approvals take notice of time: stages, escalations, reminders. */
export function asksInTime({ approve, remind }: PayRunPlaybook): boolean {
  return remind !== undefined || approve.some(({ stages }) => stages !== undefined);
}

/** The stage of a rule, from 0; one that asks its quorum at once is a stage as well. */
export function stageOfRule(rule: ApprovalRule, stage: number): ApprovalStage {
  return rule.stages?.[stage] ?? { by: rule.by, quorum: rule.quorum };
}

/** Whom these bills wait for; undefined for bills that were planned before rules were kept. */
export function askOf({ approve }: PayRunPlaybook, waiting: WaitingBills): ApprovalAsk | undefined {
  const rule = approve[waiting.ruleIndex];
  if (rule === undefined) return undefined;
  const { by, quorum, escalate } = stageOfRule(rule, waiting.stage);
  const stages = rule.stages?.length ?? 1;
  return { ...waiting, stages, by, quorum, escalatesTo: escalate?.to ?? [] };
}

/** Roles that can decide about them now. */
export function askedRoles({ by, escalated, escalatesTo }: ApprovalAsk): readonly string[] {
  return escalated ? [...by, ...escalatesTo] : by;
}

/** `controller (stage 1 of 2)`. */
export function askText(ask: ApprovalAsk): string {
  const who = stageText({ by: askedRoles(ask), quorum: ask.quorum });
  return ask.stages === 1 ? who : `${who} (stage ${ask.stage + 1} of ${ask.stages})`;
}
