import { LINE, type LineState } from "../../contracts/line-states.ts";
import { nameOfBill } from "../../domain/history-texts.ts";
import type { Db } from "../sql/db.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { areExceptions } from "./odd-lines.ts";
import { planLinesOf } from "./plan-lines.ts";

/** A line that people may want to look at, with the name that they use for its bill. */
type TroubledLine = Pick<RunLine, "payableId" | "state" | "reasonCode"> & { readonly name: string };

const RETURN_CODE = /^R\d\d$/;

/** Returns the first exceptions of a run, with the names that people use for their bills. */
export async function troubledLines(db: Db, runId: string): Promise<TroubledLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["payable_id", "state", "reason_code"])
    .where("run_id", "=", runId)
    .where(areExceptions())
    .orderBy("line_no")
    .limit(20)
    .execute();
  const plans = await planLinesOf(
    db,
    runId,
    rows.map((row) => row.payable_id),
  );
  const names = new Map(plans.map((plan) => [plan.payableId, nameOfBill(plan)]));
  return rows
    .map(toRunLine)
    .map((line) => ({ ...line, name: names.get(line.payableId) ?? line.payableId }));
}

/** Counts the payments of a run that have come back, by return code, the most frequent first. */
export async function cameBack(
  db: Db,
  runId: string,
  counts: ReadonlyMap<LineState, unknown>,
): Promise<Map<string, number>> {
  if (!LINE.bounced.some((state) => counts.has(state))) return new Map();
  const rows = await db
    .selectFrom("run_lines")
    .select((eb) => ["reason_code", eb.fn.countAll<number>().as("count")])
    .where("run_id", "=", runId)
    .where("state", "in", LINE.bounced)
    .groupBy("reason_code")
    .execute();
  const found = rows.flatMap((row) => {
    const code = row.reason_code ?? "";
    return RETURN_CODE.test(code) ? [[code, Number(row.count)] as const] : [];
  });
  return new Map(found.toSorted(([, one], [, other]) => other - one));
}
