import type { LineState } from "../../contracts/pay-run.ts";
import { COUNT, type Db } from "../sql/db.ts";
import { is, isIn } from "../sql/is-in.ts";
import { UNDER_WAY } from "./line-states.ts";
import { toRunLine } from "./lines.ts";
import { idsIn } from "../sql/rows-as.ts";

/** States whose lines are counted by `countOpenLines`, over all runs. */
export const COUNTED_BY_INDEX: readonly LineState[] = [...UNDER_WAY, "parked"];

export interface LineCount {
  readonly state: string;
  readonly count: number;
}

/** Lines of all runs that are under way or parked, by state; reads only these. */
export async function countOpenLines(db: Db): Promise<LineCount[]> {
  const counts = db.selectFrom("run_lines").select(["state", COUNT]).groupBy("state");
  const underWay = await counts.where(isIn("state", UNDER_WAY)).execute();
  const parked = await counts.where(is("state", "parked")).execute();
  return [...underWay, ...parked];
}

/** Lines of these runs by state. */
export async function countLinesOf(
  db: Db,
  runIds: readonly string[],
): Promise<(LineCount & { readonly runId: string })[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["run_id", "state", COUNT])
    .where("run_id", "in", idsIn(runIds))
    .groupBy(["run_id", "state"])
    .execute();
  return rows.map(toRunLine);
}

/** Lines of a run in one state for one of these reasons. */
export async function countForReasons(
  db: Db,
  runId: string,
  of: { readonly state: LineState; readonly reasonCodes: readonly string[] },
): Promise<number> {
  const row = await db
    .selectFrom("run_lines")
    .select(COUNT)
    .where("run_id", "=", runId)
    .where("state", "=", of.state)
    .where("reason_code", "in", of.reasonCodes)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Funding sources that lines of a run are paid from. */
export async function sourcesOfRun(db: Db, runId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("run_lines")
    .select("source_id")
    .distinct()
    .where("run_id", "=", runId)
    .execute();
  return new Set(rows.map((row) => row.source_id));
}
