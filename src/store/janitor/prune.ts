import type { Db } from "../sql/db.ts";

/**
 * Deletes events that were dispatched to their owners long ago. An event that the service still
 * lists as delivered may come back, and is dispatched again: owners only look.
 *
 * @param beforeMs real instant
 * @returns how many
 */
export async function pruneInbox(db: Db, businessId: string, beforeMs: number): Promise<number> {
  const result = await db
    .deleteFrom("inbox")
    .where("business_id", "=", businessId)
    .where("received_at_ms", "<", beforeMs)
    .where("dispatched_at_ms", "is not", null)
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
