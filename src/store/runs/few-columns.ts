import type { RunPhase } from "../../contracts/pay-run.ts";
import type { Db } from "../sql/db.ts";

// These read single columns, so that they also work on a row whose other columns can't be read.

/** Returns the phase of a run; undefined if there is none with this id. */
export async function phaseAlone(db: Db, runId: string): Promise<RunPhase | undefined> {
  const row = await db
    .selectFrom("runs")
    .select("phase")
    .where("run_id", "=", runId)
    .executeTakeFirst();
  return row?.phase as RunPhase | undefined;
}

/** Returns the API's id of the business that a run or an incident belongs to. */
export async function businessIdOfOwner(db: Db, workflowId: string): Promise<string | undefined> {
  for (const [table, id] of [
    ["runs", "run_id"],
    ["incidents", "workflow_id"],
  ] as const) {
    const row = await db
      .selectFrom(table)
      .select("business_id")
      .where(id, "=", workflowId)
      .executeTakeFirst();
    if (row !== undefined) return row.business_id;
  }
  return undefined;
}

/** Returns the API's id of a business by its profile's name, as any of its runs has it. */
export async function businessIdInRuns(db: Db, business: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("runs")
    .select("business_id")
    .where("business", "=", business)
    .limit(1)
    .executeTakeFirst();
  return row?.business_id;
}
