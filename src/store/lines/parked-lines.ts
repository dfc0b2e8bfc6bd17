import type { PlanLine } from "../../contracts/pay-run.ts";
import type { BillSum } from "../../domain/counted.ts";
import { sumCents } from "../../domain/money.ts";
import { centsInState, type LineInParts } from "../../domain/payments/line-parts.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import type { PlannedLine } from "./plan-lines.ts";
import { isGivenBack, takenUpBy, waitsForPerson } from "../payables/waits-for-person.ts";
import { type Lines, linesInParts, plannedWithParts } from "../payables/line-parts.ts";
import { toRunLine } from "./lines.ts";

/**
 * Returns the parked bills of a run that no person needs to act on, each with the run that has
 * taken it up; null if the next run plans it.
 */
export async function givenBackIn(
  db: Db,
  of: { readonly runId: string; readonly payableId?: string },
): Promise<ReadonlyMap<string, string | null>> {
  let query = givenBackOf(db.selectFrom("run_lines"), of.runId).select((eb) => [
    "run_lines.payable_id",
    takenUpBy(eb).as("taken_up_by"),
  ]);
  if (of.payableId !== undefined) query = query.where("run_lines.payable_id", "=", of.payableId);
  return new Map((await query.execute()).map((row) => [row.payable_id, row.taken_up_by]));
}

/** Returns how many these are, and how much of them is still to be paid. */
export function sumGivenBackIn(db: Db, runId: string): Promise<BillSum> {
  return sumOf(db, (lines) => givenBackOf(lines, runId));
}

function givenBackOf(lines: Lines, runId: string): Lines {
  return lines
    .where("run_lines.run_id", "=", runId)
    .where(is("run_lines.state", "parked"))
    .where(isGivenBack);
}

/** Returns how many bills these are, and how much of them has not settled and is not on its way. */
async function sumOf(db: Db, of: (lines: Lines) => Lines): Promise<BillSum> {
  const row = await of(db.selectFrom("run_lines")).select([COUNT, CENTS]).executeTakeFirstOrThrow();
  const count = Number(row.count);
  if (count === 0) return { count, cents: 0 };
  const paid = (await linesInParts(db, of)).map((line) => line.amountCents - centsInState(line));
  return { count, cents: Number(row.cents ?? 0) - sumCents(paid) };
}

function parkedNow(db: Db, businessId: string) {
  return parkedOf(db.selectFrom("run_lines"), businessId);
}

function parkedOf(lines: Lines, businessId: string): Lines {
  return lines.where("run_lines.business_id", "=", businessId).where(waitsForPerson);
}

/** Returns how many bills of a business a person must act on, and how much of them is open. */
export function sumOfParked(db: Db, businessId: string): Promise<BillSum> {
  return sumOf(db, (lines) => parkedOf(lines, businessId));
}

/** Returns the lines of these bills, by cause, the largest first. */
export async function parkedLines(
  db: Db,
  businessId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<(PlannedLine & { readonly line: LineInParts })[]> {
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
  const lines = rows.map((row) => {
    return { plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) };
  });
  return plannedWithParts(db, businessId, lines);
}

/** Returns the payables that are parked for one reason, in the order of their ids. */
export async function parkedFor(
  db: Db,
  wanted: {
    readonly businessId: string;
    readonly reasonCode: string;
    /** Only payables after this one. */
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
