import { setImmediate } from "node:timers/promises";
import type { LineState } from "../contracts/pay-run.ts";
import type { Db } from "./db.ts";
import { approversOf } from "./line-approvals.ts";
import { getPlanLines, type PlannedLine } from "./plans.ts";

/** A line as far as deciding about it goes: a run of many bills keeps no more in memory. */
export interface DecidableLine {
  readonly payableId: string;
  readonly lineHash: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
}

const LINES_A_PAGE = 1_000;

/** Lines of a run in these states, with whose approval each needs. */
export async function decidableLines(
  db: Db,
  runId: string,
  states: readonly LineState[],
): Promise<DecidableLine[]> {
  const lines: DecidableLine[] = [];
  // A few rules name the approvers of all lines.
  const known = new Map<string, readonly string[]>();
  for await (const page of pagesOf(db, runId, states)) {
    for (const { plan, line } of page) {
      const key = plan.approvers.join("\n");
      const approvers = known.get(key) ?? plan.approvers;
      known.set(key, approvers);
      const { payableId, lineHash } = line;
      lines.push({ payableId, lineHash, approvers, quorum: plan.quorum });
    }
  }
  return lines;
}

/** Lines that wait for the same approvals, and what they come to. */
export interface WaitingLines {
  readonly by: readonly string[];
  readonly quorum: number;
  readonly approvals: number;
  readonly lines: number;
  readonly totalCents: number;
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
    const approvals = await approversOf(db, runId, ids, Math.floor(businessMs));
    for (const { plan, line } of page) {
      const count = approvals.get(line.payableId)?.length ?? 0;
      if (count >= plan.quorum) continue;
      const key = JSON.stringify([plan.approvers, plan.quorum, count]);
      const group = groups.get(key);
      groups.set(key, {
        by: plan.approvers,
        quorum: plan.quorum,
        approvals: count,
        lines: (group?.lines ?? 0) + 1,
        totalCents: (group?.totalCents ?? 0) + line.amountCents,
      });
    }
  }
  return [...groups.values()];
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
