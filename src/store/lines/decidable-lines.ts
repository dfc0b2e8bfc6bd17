import { setImmediate } from "node:timers/promises";
import type { LineState } from "../../contracts/pay-run.ts";
import type { ApprovalStage } from "../../contracts/playbook.ts";
import type { DecidableLine } from "../../domain/approvals/policy.ts";
import { deciders, openStageOf, type StagedLine } from "../../domain/approvals/stages.ts";
import type { Db } from "../sql/db.ts";
import { approvalsOf, type LineApproval } from "../approvals/line-approvals.ts";
import { getPlanLines, type PlannedLine } from "./plan-lines.ts";

const LINES_A_PAGE = 1_000;

/**
 * Lines of a run in these states, with whose approval each needs; a run of many bills keeps no more
 * of them in memory.
 *
 * @param businessMs business-clock instant that expiries are compared with
 */
export async function decidableLines(
  db: Db,
  runId: string,
  states: readonly LineState[],
  businessMs: number,
): Promise<DecidableLine[]> {
  const lines: DecidableLine[] = [];
  // A few rules name the approvers and stages of all lines.
  const known = new Map<number, Rule>();
  for await (const page of pagesOf(db, runId, states)) {
    const approvals = await approvalsOfStaged(db, runId, page, businessMs);
    for (const { plan, line } of page) {
      const rule = sameRule(known.get(plan.ruleIndex), plan);
      known.set(plan.ruleIndex, rule);
      const { payableId, lineHash } = line;
      const { approvers, quorum, stages } = rule;
      const decidable = { payableId, lineHash, approvers, quorum };
      lines.push(
        stages === undefined
          ? decidable
          : { ...decidable, staged: staged(stages, line, approvals.get(payableId)) },
      );
    }
  }
  return lines;
}

type Rule = Pick<PlannedLine["plan"], "approvers" | "quorum" | "stages">;

function sameRule(known: Rule | undefined, { approvers, quorum, stages }: Rule): Rule {
  const rule = { approvers, quorum, ...(stages === undefined ? {} : { stages }) };
  return known !== undefined && JSON.stringify(known) === JSON.stringify(rule) ? known : rule;
}

function staged(
  stages: readonly ApprovalStage[],
  line: PlannedLine["line"],
  approvals: readonly LineApproval[] = [],
): StagedLine {
  return { stages, approvals, escalated: line.escalated ? line.stage : null };
}

async function approvalsOfStaged(
  db: Db,
  runId: string,
  page: readonly PlannedLine[],
  businessMs: number,
): Promise<Map<string, LineApproval[]>> {
  const ids = page.flatMap(({ plan, line }) => (plan.stages === undefined ? [] : [line.payableId]));
  return approvalsOf(db, runId, ids, businessMs);
}

/** Lines that wait for the same approvals, and what they come to. */
export interface WaitingLines {
  /** Roles of the stage that is open, whom it was escalated to among them. */
  readonly by: readonly string[];
  readonly quorum: number;
  readonly approvals: number;
  readonly lines: number;
  readonly totalCents: number;
  /** From 1; there where the rule has several. */
  readonly stage?: number;
  readonly stages?: number;
}

/** What is still missing for the lines of a run that wait for approval. */
export async function missingApprovals(
  db: Db,
  runId: string,
  businessMs: number,
): Promise<WaitingLines[]> {
  const groups = new Map<string, WaitingLines>();
  for await (const page of pagesOf(db, runId, ["awaiting-approval"])) {
    const ids = page.map(({ line }) => line.payableId);
    const approvals = await approvalsOf(db, runId, ids, Math.floor(businessMs));
    for (const planned of page) {
      const missing = missingOf(planned, approvals.get(planned.line.payableId) ?? []);
      if (missing === null) continue;
      const key = JSON.stringify(missing);
      const group = groups.get(key);
      groups.set(key, {
        ...missing,
        lines: (group?.lines ?? 0) + 1,
        totalCents: (group?.totalCents ?? 0) + planned.line.amountCents,
      });
    }
  }
  return [...groups.values()];
}

function missingOf(
  { plan, line }: PlannedLine,
  approvals: readonly LineApproval[],
): Omit<WaitingLines, "lines" | "totalCents"> | null {
  if (plan.stages === undefined) {
    const count = approvals.length;
    if (count >= plan.quorum) return null;
    return { by: plan.approvers, quorum: plan.quorum, approvals: count };
  }
  const of = staged(plan.stages, line, approvals);
  const open = openStageOf(of);
  if (open === null) return null;
  return {
    by: deciders(of, open),
    quorum: plan.stages[open]?.quorum ?? 1,
    approvals: approvals.filter(({ stage }) => stage === open).length,
    ...(plan.stages.length === 1 ? {} : { stage: open + 1, stages: plan.stages.length }),
  };
}

async function* pagesOf(
  db: Db,
  runId: string,
  states: readonly LineState[],
): AsyncGenerator<PlannedLine[]> {
  for (let after = 0; ;) {
    const page = await getPlanLines(db, runId, { states, after, limit: LINES_A_PAGE });
    if (page.length > 0) yield page;
    if (page.length < LINES_A_PAGE) return;
    after = page.at(-1)?.line.lineNo ?? Number.MAX_SAFE_INTEGER;
    // Others in this process get their turn, webhooks first of all.
    await setImmediate();
  }
}
