import type { AttemptSend } from "../contracts/attempt.ts";
import { shortenSends } from "../domain/attempts/sends.ts";
import { sql, type SqlBool } from "kysely";
import type { Db } from "./db.ts";

/**
 * Forgets events that were told to their owners long ago. One that the service still lists as
 * delivered may come back, and is told again: owners only look.
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

/** Attempts that are shortened at a time. */
const BATCH = 200;

/**
 * Shortens the sends of attempts that have their final answer, where an outage has made them many.
 *
 * @returns how many attempts
 */
export async function pruneSends(db: Db, businessId: string): Promise<number> {
  const rows = await db
    .selectFrom("attempts")
    .select(["attempt_id", "sends"])
    .where("business_id", "=", businessId)
    .where("state", "in", ["applied", "dead"])
    // As in the index `attempts_sent_often`: longer texts than this are worth shortening.
    .where(sql<SqlBool>`length(sends) > 4000`)
    .orderBy("attempt_id")
    .limit(BATCH)
    .execute();
  let shortened = 0;
  for (const row of rows) {
    const sends = JSON.parse(row.sends) as AttemptSend[];
    const fewer = shortenSends(sends, { most: 20, last: 5 });
    if (fewer.length === sends.length) continue;
    await db
      .updateTable("attempts")
      .set({ sends: JSON.stringify(fewer) })
      .where("attempt_id", "=", row.attempt_id)
      // Unchanged since it was read: it had its final answer, so nobody else writes it.
      .where("sends", "=", row.sends)
      .execute();
    shortened += 1;
  }
  return shortened;
}
