import { readerOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import type { Run } from "./runs.ts";

/** A run as a digest reports it. */
export type RecentRun = Pick<Run, "runId" | "period" | "phase" | "waitingFor" | "totalCents">;

/**
 * Returns the runs of a playbook that are at work or have ended lately, the newest first.
 *
 * @param endedSinceMs real time
 */
export async function runsLately(
  db: Db,
  of: { readonly businessId: string; readonly playbook: string },
  endedSinceMs: number,
  limit: number,
): Promise<RecentRun[]> {
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "period", "phase", "waiting_for", "total_cents"])
    .where("business_id", "=", of.businessId)
    .where("playbook", "=", of.playbook)
    .where((eb) => eb.or([eb("ended_at_ms", "is", null), eb("ended_at_ms", ">=", endedSinceMs)]))
    .orderBy("launched_at_ms", "desc")
    .limit(limit)
    .execute();
  return rows.map(readerOf("runs"));
}

/** True if a run of a playbook was launched since an instant in real time, for whatever period. */
export async function wasLaunchedSince(
  db: Db,
  of: { readonly businessId: string; readonly playbook: string; readonly sinceMs: number },
): Promise<boolean> {
  const found = await db
    .selectFrom("runs")
    .select("run_id")
    .where("business_id", "=", of.businessId)
    .where("playbook", "=", of.playbook)
    .where("launched_at_ms", ">=", of.sinceMs)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
