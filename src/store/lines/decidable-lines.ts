import { setImmediate } from "node:timers/promises";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { LineState } from "../../contracts/line-states.ts";
import { type BankChange, bankChangeOf } from "../../domain/approvals/bank-changes.ts";
import type { DecidableLine } from "../../domain/approvals/policy.ts";
import { missingOf } from "../../domain/approvals/share.ts";
import { escalatedStage } from "../../domain/approvals/stages.ts";
import { hashOfLine } from "../../domain/planning/line-hash.ts";
import { plannedHashes } from "../audit/audit-lines.ts";
import type { Db } from "../sql/db.ts";
import { approvalsOf, type LineApproval } from "../approvals/line-approvals.ts";
import { getPlanLines, type PlannedLine } from "./plan-lines.ts";

const LINES_A_PAGE = 1_000;

/** A line that a decision may be about, and what it pays. */
export interface LineToDecide extends DecidableLine {
  readonly amountCents: number;
  readonly bankChange?: BankChange;
}

/**
 * Returns the lines of a run in these states, with the approvals that each needs. No more of a line
 * is kept in memory, because a run may have many bills.
 *
 * @param businessMs business-clock instant that expiries are compared with
 */
export async function decidableLines(
  db: Db,
  runId: string,
  states: readonly LineState[],
  businessMs: number,
): Promise<LineToDecide[]> {
  const lines: LineToDecide[] = [];
  // A few rules give all lines their approvers and stages.
  const known = new Map<number, Rule>();
  for await (const page of linesByPage(db, runId, states)) {
    const approvals = await approvalsOfSome(db, runId, page, businessMs);
    const planned = await plannedHashes(
      db,
      runId,
      page.map(({ line }) => line),
    );
    for (const { plan, line } of page) {
      const rule = sameRule(known.get(plan.ruleIndex), plan);
      known.set(plan.ruleIndex, rule);
      const { payableId, lineHash, amountCents } = line;
      const isAsPlanned =
        planned.get(payableId) === lineHash &&
        hashOfLine(line.businessId, plan) === lineHash &&
        plan.amountCents === amountCents &&
        plan.quorum === line.quorum;
      const { approvers, quorum, stages } = rule;
      const bankChange = bankChangeOf(plan);
      const given = approvals.get(payableId) ?? [];
      const escalated = escalatedStage(line);
      const under = { approvers, quorum, stages, approvals: given, escalated, asksRecord: true };
      const needsWord = line.recordAsked === null ? undefined : missingOf(under)?.aboutRecord;
      lines.push({
        payableId,
        lineHash,
        amountCents,
        approvers,
        quorum,
        ...definedOnly({
          bankChange,
          isTampered: isAsPlanned ? undefined : true,
          needsWord,
          staged: stages === undefined ? undefined : { stages, approvals: given, escalated },
        }),
      });
    }
  }
  return lines;
}

type Rule = Pick<PlannedLine["plan"], "approvers" | "quorum" | "stages">;

function sameRule(known: Rule | undefined, { approvers, quorum, stages }: Rule): Rule {
  const rule = { approvers, quorum, ...definedOnly({ stages }) };
  return known !== undefined && JSON.stringify(known) === JSON.stringify(rule) ? known : rule;
}

/** Reads the approvals of lines for which they matter: of stages, or before a word is asked for. */
async function approvalsOfSome(
  db: Db,
  runId: string,
  page: readonly PlannedLine[],
  businessMs: number,
): Promise<Map<string, LineApproval[]>> {
  const ids = page.flatMap(({ plan, line }) =>
    plan.stages === undefined && line.recordAsked === null ? [] : [line.payableId],
  );
  return approvalsOf(db, runId, ids, businessMs);
}

/** Yields the lines of a run in these states, a thousand at a time. */
export async function* linesByPage(
  db: Db,
  runId: string,
  states: readonly LineState[],
): AsyncGenerator<PlannedLine[]> {
  for (let after = 0; ;) {
    const page = await getPlanLines(db, runId, { states, after, limit: LINES_A_PAGE });
    if (page.length > 0) yield page;
    if (page.length < LINES_A_PAGE) return;
    after = page.at(-1)?.line.lineNo ?? Number.MAX_SAFE_INTEGER;
    // Lets other work of this process run, above all webhooks.
    await setImmediate();
  }
}
