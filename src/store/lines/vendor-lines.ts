import type { PlanLine } from "../../contracts/pay-run.ts";
import type { Db } from "../sql/db.ts";
import { toRunLine } from "./lines.ts";
import type { PlannedLine } from "./plan-lines.ts";

/** A line of a vendor, and when its run was launched. */
export interface VendorLine extends PlannedLine {
  readonly launchedAtMs: number;
}

/** Returns the latest lines of a vendor in all runs, newest first. */
export async function linesOfVendor(
  db: Db,
  { businessId, contactId }: { readonly businessId: string; readonly contactId: string },
  limit: number,
): Promise<VendorLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .innerJoin("runs", "runs.run_id", "run_lines.run_id")
    .select(["plan_lines.line", "runs.launched_at_ms"])
    .selectAll("run_lines")
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.contact_id", "=", contactId)
    .orderBy("run_lines.execution_date", "desc")
    .orderBy("run_lines.payable_id")
    .limit(limit)
    .execute();
  return rows.map(({ line, launched_at_ms: launchedAtMs, ...row }) => ({
    plan: JSON.parse(line) as PlanLine,
    line: toRunLine(row),
    launchedAtMs,
  }));
}
