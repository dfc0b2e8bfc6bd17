import type { Db } from "../sql/db.ts";
import { takeLease } from "../sql/leases.ts";

const PREFIX = "history-key/";

/** A worker says that it encrypts with a key: whoever reads what it writes needs that key. */
export async function noteHistoryKey(db: Db, keyId: string): Promise<void> {
  await takeLease(db, { name: `${PREFIX}${keyId}`, holder: "workers" }, 0);
}

/** Keys that workers have encrypted with since runs, or bills that failed, were begun that are open. */
export async function keysOfOpenWork(db: Db): Promise<string[]> {
  const oldest = await Promise.all([
    db
      .selectFrom("runs")
      .select((eb) => eb.fn.min<number | null>("launched_at_ms").as("since_ms"))
      .where("ended_at_ms", "is", null)
      .executeTakeFirst(),
    db
      .selectFrom("retries")
      .select((eb) => eb.fn.min<number | null>("started_at_ms").as("since_ms"))
      .where("phase", "!=", "ended")
      .executeTakeFirst(),
  ]);
  const since = oldest.flatMap((row) => (row?.since_ms == null ? [] : [Number(row.since_ms)]));
  if (since.length === 0) return [];
  const rows = await db
    .selectFrom("leases")
    .select("name")
    .where("name", "like", `${PREFIX}%`)
    .where("until_ms", ">=", Math.min(...since))
    .execute();
  return rows.map(({ name }) => name.slice(PREFIX.length));
}
