import type { PlanLine } from "../../contracts/pay-run.ts";
import type { BillSum } from "../../domain/counted.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import type { PlannedLine } from "./plan-lines.ts";
import { isGivenBack, waitsForPerson } from "../payables/waits-for-person.ts";
import { toRunLine } from "./lines.ts";

/** Bills of a run that are parked and that no person needs to act on: the next run pays them. */
export async function givenBackIn(
  db: Db,
  of: { readonly runId: string; readonly payableId?: string },
): Promise<ReadonlySet<string>> {
  let query = givenBack(db, of.runId).select("run_lines.payable_id");
  if (of.payableId !== undefined) query = query.where("run_lines.payable_id", "=", of.payableId);
  return new Set((await query.execute()).map((row) => row.payable_id));
}

/** How many these are, and what they come to. */
export async function sumGivenBackIn(db: Db, runId: string): Promise<BillSum> {
  return sumOf(await givenBack(db, runId).select([COUNT, CENTS]).executeTakeFirstOrThrow());
}

function givenBack(db: Db, runId: string) {
  return db
    .selectFrom("run_lines")
    .where("run_lines.run_id", "=", runId)
    .where(is("run_lines.state", "parked"))
    .where(isGivenBack);
}

function sumOf(row: { readonly count: number; readonly cents: number | null }): BillSum {
  return { count: Number(row.count), cents: Number(row.cents ?? 0) };
}

function parkedNow(db: Db, businessId: string) {
  return db
    .selectFrom("run_lines")
    .where("run_lines.business_id", "=", businessId)
    .where(waitsForPerson);
}

export async function sumOfParked(db: Db, businessId: string): Promise<BillSum> {
  return sumOf(await parkedNow(db, businessId).select([COUNT, CENTS]).executeTakeFirstOrThrow());
}

/** They themselves, by cause, the largest first. */
export async function parkedLines(
  db: Db,
  businessId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<PlannedLine[]> {
  const rows = await parkedNow(db, businessId)
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .select("plan_lines.line")
    .selectAll("run_lines")
    .orderBy("run_lines.reason_code")
    .orderBy("run_lines.amount_cents", "desc")
    .orderBy("run_lines.payable_id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map((row) => ({ plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) }));
}

/** Those that are parked for one reason: their payables, in the order of the ids. */
export async function parkedFor(
  db: Db,
  wanted: {
    readonly businessId: string;
    readonly reasonCode: string;
    /** Only payables behind this one. */
    readonly after: string;
    readonly limit: number;
  },
): Promise<string[]> {
  const rows = await parkedNow(db, wanted.businessId)
    .select("run_lines.payable_id")
    .distinct()
    .where("run_lines.reason_code", "=", wanted.reasonCode)
    .where("run_lines.payable_id", ">", wanted.after)
    .orderBy("run_lines.payable_id")
    .limit(wanted.limit)
    .execute();
  return rows.map((row) => row.payable_id);
}
