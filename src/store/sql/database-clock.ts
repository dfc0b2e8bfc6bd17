import { sql } from "kysely";
import type { Db } from "./db.ts";

/**
 * Reads the database's clock, which all processes share, in whole milliseconds since 1970: the
 * instant of this call, even within a transaction that has waited for its lock.
 */
export async function databaseNowMs(db: Db): Promise<number> {
  const row = await db
    .selectNoFrom(sql<number>`payrun_now_ms()`.as("now_ms"))
    .executeTakeFirstOrThrow();
  return row.now_ms;
}
