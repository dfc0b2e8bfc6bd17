import { LINE } from "../../contracts/line-states.ts";
import type { SkippedLine } from "../../contracts/pay-run.ts";
import { readerOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { type RunLine, toRunLine } from "./lines.ts";

/** Returns a payable's lines in all runs of its business, the one that changed last first. */
export async function linesOfPayable(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<RunLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("payable_id", "=", payableId)
    .orderBy("updated_at_ms", "desc")
    .execute();
  return rows.map(toRunLine);
}

/**
 * Returns the line that stands for a payable now: one that has not ended, else the one that changed
 * last. A line that was only planned stands for it only if there is no other.
 */
export function currentOf(lines: readonly RunLine[]): RunLine | undefined {
  return (
    lines.find((line) => !LINE.ended.includes(line.state)) ??
    lines.find(({ state }) => state !== "skipped") ??
    lines[0]
  );
}

/** Returns each version of a payable that a plan contained, with the playbook of its run. */
export async function planningsOf(db: Db, businessId: string, payableId: string) {
  const rows = await db
    .selectFrom("plan_lines")
    .innerJoin("runs", "runs.run_id", "plan_lines.run_id")
    .innerJoin("plans", (join) =>
      join
        .onRef("plans.run_id", "=", "plan_lines.run_id")
        .onRef("plans.plan_no", "=", "plan_lines.plan_no"),
    )
    .select(["plan_lines.run_id", "plan_lines.line", "plans.created_at_ms", "runs.policy"])
    .where("runs.business_id", "=", businessId)
    .where("plan_lines.payable_id", "=", payableId)
    .orderBy("plan_lines.version")
    .execute();
  return rows.map(({ policy, ...row }) => ({
    ...readerOf("plan_lines")(row),
    ...readerOf("runs")({ policy }),
  }));
}

/** A payable that a run left out of its plan. */
export interface LeftOut {
  readonly runId: string;
  readonly skipped: SkippedLine;
  readonly launchedAtMs: number;
}

/** Returns the runs that left a payable out, the latest first. */
export async function leftOutOf(db: Db, businessId: string, payableId: string): Promise<LeftOut[]> {
  const rows = await db
    .selectFrom("plan_skipped")
    .innerJoin("runs", "runs.run_id", "plan_skipped.run_id")
    .select(["plan_skipped.run_id", "plan_skipped.skipped", "runs.launched_at_ms"])
    .where("runs.business_id", "=", businessId)
    .where("plan_skipped.payable_id", "=", payableId)
    .orderBy("runs.launched_at_ms", "desc")
    .execute();
  return rows.map(readerOf("plan_skipped"));
}

/** Returns the service's events about a payable. */
export async function eventsOfPayable(db: Db, businessId: string, payableId: string) {
  const rows = await db
    .selectFrom("inbox")
    .select(["type", "received_at_ms", "via"])
    .where("business_id", "=", businessId)
    .where("object", "=", "payable")
    .where("object_id", "=", payableId)
    .execute();
  return rows.map(readerOf("inbox"));
}
