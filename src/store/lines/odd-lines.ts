import type { LineState } from "../../contracts/pay-run.ts";
import { COUNT, type Db } from "../sql/db.ts";
import { toRunLine } from "./lines.ts";
import { getPlanLines, type PlannedLine } from "./plan-lines.ts";

/** Lines in these states need nobody's attention any more, or not yet. */
export const REGULAR_STATES: readonly LineState[] = ["settled", "skipped"];

/** The first lines of a run with a reason to look at, and how many there are. */
export async function oddLines(
  db: Db,
  runId: string,
  most: number,
): Promise<{ readonly count: number; readonly lines: readonly PlannedLine[] }> {
  const states = await db
    .selectFrom("run_lines")
    .select(["state", COUNT])
    .where("run_id", "=", runId)
    .where("state", "not in", REGULAR_STATES)
    .where("reason", "is not", null)
    .groupBy("state")
    .execute();
  const count = states.reduce((sum, row) => sum + row.count, 0);
  if (count === 0) return { count, lines: [] };
  const lines = await getPlanLines(db, runId, {
    states: states.map(toRunLine).map(({ state }) => state),
    withReason: true,
    page: { offset: 0, limit: most },
  });
  return { count, lines };
}
