import type { ApprovalStage } from "../../contracts/playbook.ts";
import { principalOf, quorumOf } from "./principal.ts";

/** A line whose rule has stages, and who has approved it so far. */
export interface StagedLine {
  /** One after the other, at least one. */
  readonly stages: readonly ApprovalStage[];
  /** Valid approvals of exactly this line; a principal has one at most. */
  readonly approvals: readonly StageApproval[];
  /** The stage whose turn was escalated, where one was: from 0. */
  readonly escalated: number | null;
}

export interface StageApproval {
  /** From 0. */
  readonly stage: number;
  /** As `principalOf` writes it. */
  readonly principal: string;
}

/** What a decision of one person means for one line. */
export type Turn =
  | { readonly kind: "counts"; readonly stage: number; readonly escalated: boolean }
  /** Somebody else comes first: `stage` is still open. */
  | { readonly kind: "too-early"; readonly stage: number }
  /** Counted in another stage, and nobody counts in two; `stage` is the open one. */
  | { readonly kind: "counted-before"; readonly stage: number }
  | { readonly kind: "no-say" };

/** The first stage whose quorum is not reached, from 0; null where all are. */
export function openStageOf(line: Omit<StagedLine, "escalated">): number | null {
  const open = line.stages.findIndex(({ quorum }, stage) => {
    const here = line.approvals.filter((approval) => approval.stage === stage);
    return quorumOf(here.map(({ principal }) => principal)) < Math.max(1, quorum);
  });
  return open < 0 ? null : open;
}

/** Roles that decide in a stage now: its own, and whom it was escalated to. */
export function deciders(line: StagedLine, stage: number): string[] {
  const own = line.stages[stage]?.by ?? [];
  return line.escalated === stage
    ? [...own, ...(line.stages[stage]?.escalate?.to ?? [])]
    : [...own];
}

/** Everybody who may leave the line out or reject it, in whatever stage it is: stopping is safe. */
export function everyDecider(line: StagedLine): string[] {
  return [...new Set(line.stages.flatMap((_, stage) => deciders(line, stage)))];
}

/**
 * What an approval would mean for a line.
 *
 * It counts in the stage that is open. Who has approved in one stage doesn't count in another, so
 * that each quorum is other people; who comes before their turn is told whose it is.
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

/** Renewing needs a role that would count in the stage today. */
function renews(
  line: StagedLine,
  stage: number,
  has: (roles: readonly string[]) => boolean,
): boolean {
  return has([...(line.stages[stage]?.by ?? []), ...(line.stages[stage]?.escalate?.to ?? [])]);
}

/** `controller`, `2 people of controller or owner`. */
export function stageText({ by, quorum }: Pick<ApprovalStage, "by" | "quorum">): string {
  const roles = by.join(" or ");
  return quorum <= 1 ? roles : `${quorum} people of ${roles}`;
}
