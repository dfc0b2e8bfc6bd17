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

/** The tables whose rows have a workflow each, with the column of its id. */
const OWNERS = [
  ["runs", "run_id"],
  ["retries", "workflow_id"],
  ["incidents", "workflow_id"],
  ["cancellations", "workflow_id"],
  ["onboardings", "workflow_id"],
] as const;

/**
 * Returns the API's id of the business that a workflow's row belongs to; undefined if there is no
 * such row.
 */
export async function businessIdOfOwner(db: Db, workflowId: string): Promise<string | undefined> {
  for (const [table, id] of OWNERS) {
    const row = await db
      .selectFrom(table)
      .select("business_id")
      .where(id, "=", workflowId)
      .executeTakeFirst();
    if (row !== undefined) return row.business_id;
  }
  return undefined;
}

/** True if a playbook of this name is stored. */
export async function isPlaybook(
  db: Db,
  { business, name }: { readonly business: string; readonly name: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("playbooks")
    .select("name")
    .where("business", "=", business)
    .where("name", "=", name)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
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
