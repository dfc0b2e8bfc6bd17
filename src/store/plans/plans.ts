import { readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";

export type StoredPlan = RecordOf<"plans">;

const toStoredPlan = readerOf("plans");

/** Returns the latest plan of a run; undefined before there is one. */
export async function getPlan(db: Db, runId: string): Promise<StoredPlan | undefined> {
  const row = await db
    .selectFrom("plans")
    .selectAll()
    .where("run_id", "=", runId)
    .orderBy("plan_no", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toStoredPlan(row);
}
