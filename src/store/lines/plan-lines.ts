import type { Expression, SqlBool } from "kysely";
import type { LineState } from "../../contracts/line-states.ts";
import type { PlanLine, SkippedLine } from "../../contracts/pay-run.ts";
import type { Db } from "../sql/db.ts";
import { idsIn } from "../sql/rows-as.ts";
import { type RunLine, toRunLine } from "./lines.ts";

/** A line as it was planned, and as it stands now. */
export interface PlannedLine {
  readonly plan: PlanLine;
  readonly line: RunLine;
}

/** Returns lines of a run as they stand now, in plan order unless the filter sorts them. */
export async function getPlanLines(
  db: Db,
  runId: string,
  filter: {
    readonly states?: readonly LineState[];
    readonly payableIds?: readonly string[];
    /** Only lines for which this is true. */
    readonly where?: Expression<SqlBool>;
    /** Only lines after this number of the plan, at most `limit`. */
    readonly after?: number;
    readonly limit?: number;
    readonly page?: { readonly offset: number; readonly limit: number };
    /** Lines with the most of the first come first, then of the next; equal ones stay in plan order. */
    readonly most?: readonly ("flagged" | "amount_cents" | "days_late")[];
    /** Lines with the earliest of it come first. */
    readonly first?: "due_date";
  } = {},
): Promise<PlannedLine[]> {
  let query = currentLines(db).where("run_lines.run_id", "=", runId).selectAll("run_lines");
  for (const column of filter.most ?? []) query = query.orderBy(`run_lines.${column}`, "desc");
  if (filter.first !== undefined) query = query.orderBy(`run_lines.${filter.first}`);
  query = query.orderBy("run_lines.line_no");
  if (filter.states !== undefined) query = query.where("run_lines.state", "in", filter.states);
  if (filter.payableIds !== undefined) {
    query = query.where("run_lines.payable_id", "in", idsIn(filter.payableIds));
  }
  if (filter.after !== undefined) query = query.where("run_lines.line_no", ">", filter.after);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  if (filter.where !== undefined) query = query.where(filter.where);
  if (filter.page !== undefined) query = query.limit(filter.page.limit).offset(filter.page.offset);
  const rows = await query.execute();
  return rows.map((row) => ({ plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) }));
}

/** Returns a business's lines for these payables, from all runs. */
export async function getLinesOfPayables(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<PlannedLine[]> {
  const rows = await currentLines(db)
    .selectAll("run_lines")
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.payable_id", "in", idsIn(payableIds))
    .execute();
  return rows.map((row) => ({ plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) }));
}

/**
 * Returns the ids of payments of a business's lines that are dated within these days, both
 * included.
 */
export async function paymentIdsDated(
  db: Db,
  businessId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select("payment_ids")
    .where("business_id", "=", businessId)
    .where("execution_date", ">=", from)
    .where("execution_date", "<=", to)
    .where("payment_ids", "!=", "[]")
    .execute();
  return rows.map(toRunLine).flatMap(({ paymentIds }) => paymentIds);
}

function currentLines(db: Db) {
  return db
    .selectFrom("run_lines")
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .select("plan_lines.line");
}

/** Returns the current plan lines of these lines of a run. */
export async function planLinesOf(
  db: Db,
  runId: string,
  payableIds: readonly string[],
): Promise<PlanLine[]> {
  const rows = await currentLines(db)
    .where("run_lines.run_id", "=", runId)
    .where("run_lines.payable_id", "in", idsIn(payableIds))
    .execute();
  return rows.map(({ line }) => planIn(line));
}

/** At most this many plan lines, or twice as many, are kept. */
const LATELY_READ = 1_000;
let [younger, older] = [new Map<string, PlanLine>(), new Map<string, PlanLine>()];

/**
 * Returns the plan line that a stored text is. Who pays a line and the gate read the same text
 * within seconds, so it is parsed once.
 */
export function planIn(text: string): PlanLine {
  const known = younger.get(text) ?? older.get(text);
  if (known !== undefined) return known;
  const plan = JSON.parse(text) as PlanLine;
  if (younger.size === LATELY_READ) [younger, older] = [new Map(), younger];
  younger.set(text, plan);
  return plan;
}

/** Returns a payable's current plan line in a run. */
export async function getPlanLine(
  db: Db,
  runId: string,
  payableId: string,
): Promise<PlanLine | undefined> {
  return (await planLinesOf(db, runId, [payableId]))[0];
}

/** Returns the payables that the plan left out, and why. */
export async function listSkipped(
  db: Db,
  runId: string,
  page?: { readonly offset: number; readonly limit: number },
): Promise<SkippedLine[]> {
  let query = db
    .selectFrom("plan_skipped")
    .select("skipped")
    .where("run_id", "=", runId)
    .orderBy("code")
    .orderBy("payable_id");
  if (page !== undefined) query = query.limit(page.limit).offset(page.offset);
  const rows = await query.execute();
  return rows.map((row) => JSON.parse(row.skipped) as SkippedLine);
}
