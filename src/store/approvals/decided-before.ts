import { sql } from "kysely";
import type { PlanLine } from "../../contracts/pay-run.ts";
import {
  type Approval,
  type DecidedBefore,
  type Refusal,
  type RefusedBills,
  stillDecided,
} from "../../domain/planning/decided-before.ts";
import { readerOf } from "../sql/as-record.ts";
import { REFUSING } from "../schema/decisions.ts";
import { chunks, type Db } from "../sql/db.ts";
import { idsIn } from "../sql/rows-as.ts";
import { isApproved } from "./line-approvals.ts";

const toDecision = readerOf("decisions");

/** Selects whether someone has rejected the run of `run_lines`. */
const isOfRejectedRun = sql<boolean>`exists (select 1 from decisions rejection
  where rejection.run_id = run_lines.run_id
    and rejection.decision = 'reject' and rejection.outcome = 'accepted')`;

/**
 * Returns what people have decided about bills of a business, in whichever run, as far as it still
 * matters.
 *
 * @param of.planned bills of which refusals are wanted, and of these the approvals since
 * @param of.compared bills, planned or not, of which both are wanted
 */
export async function decidedBefore(
  db: Db,
  businessId: string,
  { planned, compared }: { planned: readonly string[]; compared: readonly string[] },
): Promise<DecidedBefore> {
  const refusals = new Map<string, Refusal[]>();
  for (const ids of chunks([...new Set([...planned, ...compared])])) {
    for (const { payableId, ...refusal } of await refusalsOf(db, businessId, ids)) {
      refusals.set(payableId, [...(refusals.get(payableId) ?? []), refusal]);
    }
  }
  const approvals = new Map<string, Approval[]>();
  for (const ids of chunks([...new Set([...refusals.keys(), ...compared])])) {
    for (const { payableId, ...approval } of await approvalsOf(db, businessId, ids)) {
      approvals.set(payableId, [...(approvals.get(payableId) ?? []), approval]);
    }
  }
  const decided = new Set([...refusals.keys(), ...approvals.keys()]);
  return new Map(
    [...decided].map((id) => [
      id,
      stillDecided({ refusals: refusals.get(id) ?? [], approvals: approvals.get(id) ?? [] }),
    ]),
  );
}

/**
 * Returns the bills of a business that anybody has rejected or left out, whatever came after.
 *
 * @param recentMs the instant from which a refusal is recent
 */
export async function refusedBills(
  db: Db,
  businessId: string,
  recentMs: number,
): Promise<RefusedBills> {
  const decisions = await db
    .selectFrom("decisions")
    .select(["run_id", (eb) => eb.fn.max("decided_at_ms").as("at_ms")])
    .where(sql<boolean>`${sql.raw(REFUSING)}`)
    .groupBy("run_id")
    .execute();
  const refusedAtMs = new Map(decisions.map((row) => [row.run_id, Number(row.at_ms)]));
  const bills = { all: new Set<string>(), recent: new Set<string>() };
  for (const runIds of chunks([...refusedAtMs.keys()])) {
    const lines = await db
      .selectFrom("run_lines")
      .select(["run_id", "payable_id", "business_id"])
      .where("run_id", "in", idsIn(runIds))
      .where((eb) => eb.or([eb("dropped_by", "is not", null), isOfRejectedRun]))
      .execute();
    for (const line of lines.filter((each) => each.business_id === businessId)) {
      bills.all.add(line.payable_id);
      if ((refusedAtMs.get(line.run_id) ?? 0) >= recentMs) bills.recent.add(line.payable_id);
    }
  }
  return bills;
}

/** Returns the runs that have had a bill in their plan and neither rejected it nor left it out. */
export async function runsNotRefusing(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<{ readonly runId: string; readonly payableId: string }[]> {
  return db
    .selectFrom("run_lines")
    .select(["run_id as runId", "payable_id as payableId"])
    .where("business_id", "=", businessId)
    .where("payable_id", "in", idsIn(payableIds))
    .where("dropped_by", "is", null)
    .where((eb) => eb.not(isOfRejectedRun))
    .execute();
}

interface OfPayable {
  readonly payableId: string;
}

/** Returns the rejections of runs with these bills, and the decisions that left a bill out. */
export async function refusalsOf(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<(Refusal & OfPayable)[]> {
  const lines = await db
    .selectFrom("run_lines")
    .select(["run_id", "payable_id"])
    .where("business_id", "=", businessId)
    .where("payable_id", "in", idsIn(payableIds))
    .where((eb) => eb.or([eb("dropped_by", "is not", null), isOfRejectedRun]))
    .execute();
  if (lines.length === 0) return [];
  const linesOfRun = Map.groupBy(lines, (line) => line.run_id);
  const decisions = await db
    .selectFrom("decisions")
    .select(["decision_id", "run_id", "decision", "principal", "roles", "dropped", "comment"])
    .select("decided_at_ms")
    .where("run_id", "in", idsIn([...linesOfRun.keys()]))
    .where("outcome", "=", "accepted")
    .where((eb) => eb.or([eb("decision", "=", "reject"), eb("dropped", "!=", "[]")]))
    .execute();
  return decisions.map(toDecision).flatMap(({ decision, dropped, decidedAtMs, ...said }) => {
    const out = new Set(dropped);
    const isRejection = decision === "reject";
    return (linesOfRun.get(said.runId) ?? [])
      .filter((line) => isRejection || out.has(line.payable_id))
      .map((line): Refusal & OfPayable => ({
        ...said,
        payableId: line.payable_id,
        how: isRejection ? "rejected" : "left out",
        atMs: decidedAtMs,
      }));
  });
}

/**
 * Returns the approvals of these bills that their rules asked for, whether or not they have expired
 * since. One in a run that was rejected as well, or before the bill was left out, says nothing.
 */
async function approvalsOf(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<(Approval & OfPayable)[]> {
  const rows = await db
    .selectFrom("run_lines")
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .select(["run_lines.payable_id", "plan_lines.line"])
    .select(
      sql<number>`(select max(decisions.decided_at_ms) from line_approvals
        join decisions on decisions.decision_id = line_approvals.decision_id
        where line_approvals.run_id = run_lines.run_id
          and line_approvals.payable_id = run_lines.payable_id
          and line_approvals.line_hash = run_lines.line_hash)`.as("at_ms"),
    )
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.payable_id", "in", idsIn(payableIds))
    .where("run_lines.dropped_by", "is", null)
    .where((eb) => eb.not(isOfRejectedRun))
    .where(isApproved(0))
    .execute();
  return rows.map((row) => ({
    payableId: row.payable_id,
    atMs: Number(row.at_ms),
    twins: (JSON.parse(row.line) as PlanLine).flags.flatMap(({ twins = [] }) => twins),
  }));
}
