import type { PlanLine } from "../../contracts/pay-run.ts";
import type { Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";

/** A line that was planned anew, as it was and as it is. */
export interface LineAsReplanned {
  readonly before: PlanLine;
  readonly after: PlanLine;
  /** Why it was planned anew, as the run's line says now. */
  readonly reason: string | null;
}

/** The most changed lines in one response. */
const CHANGES_MOST = 500;

/**
 * Returns the lines that were planned anew after a plan of a run.
 *
 * @param planHash the plan that the person looked at
 * @returns undefined if the run never had such a plan
 */
export async function linesChangedSince(
  db: Db,
  runId: string,
  planHash: string,
): Promise<LineAsReplanned[] | undefined> {
  const looked = await findOne(db, "plans", { runId, planHash });
  if (looked === undefined) return undefined;
  const rows = await db
    .selectFrom("run_lines")
    .innerJoin("plan_lines as now", (join) =>
      join
        .onRef("now.run_id", "=", "run_lines.run_id")
        .onRef("now.payable_id", "=", "run_lines.payable_id")
        .onRef("now.version", "=", "run_lines.version"),
    )
    .innerJoin("plan_lines as was", (join) =>
      join
        .onRef("was.run_id", "=", "run_lines.run_id")
        .onRef("was.payable_id", "=", "run_lines.payable_id"),
    )
    .select(["now.line as after", "was.line as before", "run_lines.reason"])
    .where("run_lines.run_id", "=", runId)
    .where("now.plan_no", ">", looked.planNo)
    .where("was.version", "=", (eb) =>
      eb
        .selectFrom("plan_lines as seen")
        .select((of) => of.fn.max("seen.version").as("version"))
        .whereRef("seen.run_id", "=", "run_lines.run_id")
        .whereRef("seen.payable_id", "=", "run_lines.payable_id")
        .where("seen.plan_no", "<=", looked.planNo),
    )
    .orderBy("run_lines.line_no")
    .limit(CHANGES_MOST)
    .execute();
  return rows.map(({ before, after, reason }) => ({
    before: JSON.parse(before) as PlanLine,
    after: JSON.parse(after) as PlanLine,
    reason,
  }));
}
