import type { ApprovalStage } from "../../contracts/playbook.ts";
import { principalOf, quorumOf } from "../../contracts/principal.ts";

/** A line whose rule has stages, with its approvals so far. */
export interface StagedLine {
  /** In order, at least one. */
  readonly stages: readonly ApprovalStage[];
  /** Valid approvals of exactly this line, at most one for each principal. */
  readonly approvals: readonly StageApproval[];
  /** The escalated stage, from 0; null if none was. */
  readonly escalated: number | null;
}

export interface StageApproval {
  /** From 0. */
  readonly stage: number;
  /** As `principalOf` writes it. */
  readonly principal: string;
  /** True if the stage needs one more person because this approval was hurried. */
  readonly hurried?: boolean;
}

/** Returns the stage of a line that was escalated, from 0; null if none was. */
export function escalatedStage(line: {
  readonly stage: number;
  readonly escalated: boolean;
}): number | null {
  return line.escalated ? line.stage : null;
}

/** Returns how many people a stage needs that has these approvals. */
export function neededIn(quorum: number, approvals: readonly StageApproval[]): number {
  return Math.max(1, quorum) + (approvals.some(({ hurried }) => hurried === true) ? 1 : 0);
}

/** What one person's decision means for one line. */
export type Turn =
  | { readonly kind: "counts"; readonly stage: number; readonly escalated: boolean }
  /** An earlier stage is still open: `stage`. */
  | { readonly kind: "too-early"; readonly stage: number }
  /** The person has approved in another stage, and counts in one only; `stage` is the open one. */
  | { readonly kind: "counted-before"; readonly stage: number }
  | { readonly kind: "no-say" };

/** Returns the first stage whose quorum is not reached, from 0; null if all are. */
export function openStageOf(line: Omit<StagedLine, "escalated">): number | null {
  const open = line.stages.findIndex(({ quorum }, stage) => {
    const here = line.approvals.filter((approval) => approval.stage === stage);
    return quorumOf(here.map(({ principal }) => principal)) < neededIn(quorum, here);
  });
  return open < 0 ? null : open;
}

/** Returns the roles that decide in a stage now: its own, and those to which it was escalated. */
export function deciders(line: StagedLine, stage: number): string[] {
  const own = line.stages[stage]?.by ?? [];
  return line.escalated === stage
    ? [...own, ...(line.stages[stage]?.escalate?.to ?? [])]
    : [...own];
}

/** Returns all roles that may drop or reject the line, in any stage: stopping is safe. */
export function everyDecider(line: StagedLine): string[] {
  return [...new Set(line.stages.flatMap((_, stage) => deciders(line, stage)))];
}

/**
 * Says what an approval would mean for a line.
 *
 * It counts in the open stage. A person's approval in one stage doesn't count in another, so that
 * each quorum consists of different people. If an earlier stage is open, the verdict names it.
 */
export function turnOf(
  line: StagedLine,
  person: { readonly principal: string; readonly roles: ReadonlySet<string> },
): Turn {
  const has = (roles: readonly string[]): boolean => roles.some((role) => person.roles.has(role));
  const open = openStageOf(line);
  const me = principalOf(person.principal);
  const mine = line.approvals.find(({ principal }) => principalOf(principal) === me)?.stage;
  const counts = (stage: number): Turn => ({
    kind: "counts",
    stage,
    escalated: !has(line.stages[stage]?.by ?? []),
  });
  if (mine !== undefined) {
    if (mine === open || open === null) return renews(line, mine, has) ? counts(mine) : NO_SAY;
    if (has(deciders(line, open))) return { kind: "counted-before", stage: open };
    return renews(line, mine, has) ? counts(mine) : NO_SAY;
  }
  if (open !== null && has(deciders(line, open))) return counts(open);
  const stage = line.stages.findIndex(({ by }) => has(by));
  if (stage < 0) return NO_SAY;
  return open === null || stage < open ? counts(stage) : { kind: "too-early", stage: open };
}

const NO_SAY: Turn = { kind: "no-say" };

/**
 * True if a person may renew their approval: today they need a role that the stage or its
 * escalation names.
 */
function renews(
  line: StagedLine,
  stage: number,
  has: (roles: readonly string[]) => boolean,
): boolean {
  return has([...(line.stages[stage]?.by ?? []), ...(line.stages[stage]?.escalate?.to ?? [])]);
}

/** Says who decides in a stage: `controller`, `2 people of controller or owner`. */
export function stageText({ by, quorum }: Pick<ApprovalStage, "by" | "quorum">): string {
  const roles = by.join(" or ");
  return quorum <= 1 ? roles : `${quorum} people of ${roles}`;
}
