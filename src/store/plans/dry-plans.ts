import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { DAY_MS } from "../../contracts/durations.ts";
import type { DryPlanAsked } from "../../contracts/activities.ts";
import type {
  DryPlan,
  DryPlanHead,
  DryPlanPage,
  PlanLine,
  SkippedLine,
} from "../../contracts/pay-run.ts";
import { chunks, type Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";

const KEPT_MS = DAY_MS;

/** The head as it is stored. It is written last, and says which lines are the plan's. */
interface KeptHead extends DryPlanHead {
  readonly linesId: string;
}

/** Stores what a dry plan is asked of. */
export async function askForDryPlan(
  db: Db,
  dryPlanId: string,
  asked: DryPlanAsked,
  nowMs: number,
): Promise<void> {
  const row = { dry_plan_id: dryPlanId, created_at_ms: nowMs, asked: JSON.stringify(asked) };
  await db.insertInto("dry_plans").values(row).execute();
}

/** Returns what a dry plan is asked of; undefined if nobody has asked for it, or it is made. */
export async function openDryPlan(db: Db, dryPlanId: string): Promise<DryPlanAsked | undefined> {
  const row = await findOne(db, "dry_plans", { dryPlanId });
  return row?.plan === null ? row.asked : undefined;
}

/** Stores a dry plan for its requester, and deletes those older than a day. */
export async function saveDryPlan(
  db: Db,
  dry: { readonly dryPlanId: string; readonly plan: DryPlan; readonly nowMs: number },
): Promise<void> {
  const { dryPlanId, nowMs } = dry;
  const { lines, skipped, ...head } = dry.plan;
  await db
    .deleteFrom("dry_plans")
    .where("created_at_ms", "<", nowMs - KEPT_MS)
    .execute();
  await db
    .deleteFrom("dry_plan_lines")
    .where("created_at_ms", "<", nowMs - KEPT_MS)
    .execute();
  // The planning activity may run twice, even at the same time: each try has lines of its own.
  const linesId = randomUUID();
  const row = { lines_id: linesId, created_at_ms: nowMs };
  let lineNo = 0;
  for (const [isSkipped, bills] of [[0, lines] as const, [1, skipped] as const]) {
    for (const some of chunks<PlanLine | SkippedLine>(bills)) {
      // Keeping a hundred thousand takes seconds, in which this process must still heartbeat.
      await setImmediate();
      const values = some.map((bill) => {
        lineNo += 1;
        return { ...row, line_no: lineNo, skipped: isSkipped, line: JSON.stringify(bill) };
      });
      await db.insertInto("dry_plan_lines").values(values).execute();
    }
  }
  const plan = JSON.stringify({ ...head, linesId } satisfies KeptHead);
  await db.updateTable("dry_plans").set({ plan }).where("dry_plan_id", "=", dryPlanId).execute();
}

/**
 * Returns one page of a dry plan's bills, with what the plan says about all of them.
 *
 * @returns undefined if there is no such plan (any more): plans older than a day are deleted
 */
export async function getDryPlanPage(
  db: Db,
  dryPlanId: string,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<DryPlanPage | undefined> {
  const kept = await findOne(db, "dry_plans", { dryPlanId });
  if (kept?.plan == null) return undefined;
  const { linesId, ...head } = JSON.parse(kept.plan) as KeptHead;
  const before = (page - 1) * pageSize;
  const rows = await db
    .selectFrom("dry_plan_lines")
    .select(["skipped", "line"])
    .where("lines_id", "=", linesId)
    .where("line_no", ">", before)
    .where("line_no", "<=", before + pageSize)
    .orderBy("line_no")
    .execute();
  const totalCount = head.lineCount + head.skippedCount;
  return {
    ...head,
    planId: dryPlanId,
    lines: rows.flatMap(({ skipped, line }) =>
      skipped === 0 ? [JSON.parse(line) as PlanLine] : [],
    ),
    skipped: rows.flatMap(({ skipped, line }) =>
      skipped === 1 ? [JSON.parse(line) as SkippedLine] : [],
    ),
    totalCount,
    page,
    pageSize,
    nextPage: before + pageSize < totalCount ? page + 1 : null,
  };
}
