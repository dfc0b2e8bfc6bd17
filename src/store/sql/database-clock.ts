import { sql } from "kysely";
import type { Db } from "./db.ts";

/**
 * The database's clock, which all processes share, in whole milliseconds since 1970: the instant at
 * which it is asked, also within a transaction that has waited for its lock.
 */
export async function databaseNowMs(db: Db): Promise<number> {
  const row = await db
    .selectNoFrom(sql<number>`payrun_now_ms()`.as("now_ms"))
    .executeTakeFirstOrThrow();
  return row.now_ms;
}

/** True once the database has answered; false if it refuses. */
export async function isAnswering(db: Db): Promise<boolean> {
  return databaseNowMs(db).then(
    () => true,
    () => false,
  );
}
