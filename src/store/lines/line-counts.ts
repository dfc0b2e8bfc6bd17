import type { LineReason } from "../../contracts/reason-codes.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { BillSum } from "../../domain/counted.ts";
import { withParts } from "../../domain/payments/line-parts.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { is, isIn } from "../sql/is-in.ts";
import { linesInParts } from "../payables/line-parts.ts";
import { toRunLine } from "./lines.ts";
import { idsIn } from "../sql/rows-as.ts";

export interface LineCount {
  readonly state: string;
  readonly count: number;
}

/** Counts the lines of all runs that are under way or parked, by state; reads only these. */
export async function countOpenLines(db: Db): Promise<LineCount[]> {
  const counts = db.selectFrom("run_lines").select(["state", COUNT]).groupBy("state");
  const underWay = await counts.where(isIn("state", LINE.underWay)).execute();
  const parked = await counts.where(is("state", "parked")).execute();
  return [...underWay, ...parked];
}

/**
 * Counts the lines of a run in each state, and sums what is in it, in cents. A part of a line that
 * has settled counts as settled, whatever the state of its line.
 */
export async function countLines(db: Db, runId: string): Promise<Map<LineState, BillSum>> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["state", COUNT, CENTS])
    .where("run_id", "=", runId)
    .groupBy("state")
    .execute();
  const sums = new Map(
    rows.map(toRunLine).map(({ state, ...sum }): [LineState, BillSum] => [state, sum]),
  );
  if (
    [...sums.keys()].every(
      (state) => LINE.decidable.includes(state) || LINE.regular.includes(state),
    )
  )
    return sums;
  const lines = await linesInParts(db, (all) => all.where("run_lines.run_id", "=", runId));
  if (lines.length === 0) return sums;
  const apart = Object.entries(withParts(Object.fromEntries(sums), lines));
  return new Map(apart as [LineState, BillSum][]);
}

/** Does the same for each of several runs that have a line in one of these states; few have. */
export async function countLinesWhere(
  db: Db,
  runIds: readonly string[],
  states: readonly LineState[],
): Promise<Map<string, Map<LineState, BillSum>>> {
  if (runIds.length === 0) return new Map();
  const found = await db
    .selectFrom("run_lines")
    .select("run_id")
    .distinct()
    .where("run_id", "in", runIds)
    .where("state", "in", states)
    .execute();
  const counts = found.map(async ({ run_id: id }) => [id, await countLines(db, id)] as const);
  return new Map(await Promise.all(counts));
}

/** Counts the lines of these runs by state. */
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

/** Counts the lines of a run that are in one of these states; only of these payables, if given. */
export async function countIn(
  db: Db,
  runId: string,
  states: readonly LineState[],
  payableIds?: readonly string[],
): Promise<number> {
  let lines = db.selectFrom("run_lines").select(COUNT).where("run_id", "=", runId);
  if (payableIds !== undefined) lines = lines.where("payable_id", "in", idsIn(payableIds));
  const row = await lines.where("state", "in", states).executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Counts the lines of a run that are in one state for one of these reasons. */
export async function countForReasons(
  db: Db,
  runId: string,
  of: { readonly state: LineState; readonly reasonCodes: readonly LineReason[] },
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

/** Returns the funding sources that lines of a run are paid from. */
export async function sourcesOfRun(db: Db, runId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("run_lines")
    .select("source_id")
    .distinct()
    .where("run_id", "=", runId)
    .execute();
  return new Set(rows.map((row) => row.source_id));
}
