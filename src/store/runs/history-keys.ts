import { type RawBuilder, sql } from "kysely";
import { MOVING_TOP_UP_STATES } from "../../contracts/deposit.ts";
import type { Tables } from "../schema/tables.ts";
import type { Db } from "../sql/db.ts";
import { isIn } from "../sql/is-in.ts";
import { takeLease } from "../sql/leases.ts";

const PREFIX = "history-key/";

/** True for an incident that follows a deposit, whatever was decided meanwhile. */
const HAS_MOVING_DEPOSIT = sql`exists (
  select 1 from top_ups
  where top_ups.business_id = incidents.business_id and top_ups.owner = incidents.workflow_id
    and ${isIn("top_ups.state", MOVING_TOP_UP_STATES)})`;

/** Records that a worker encrypts with a key: readers of what it writes need that key. */
export async function noteHistoryKey(db: Db, keyId: string): Promise<void> {
  await takeLease(db, { name: `${PREFIX}${keyId}`, holder: "workers" }, 0);
}

/**
 * Returns the keys that workers have encrypted with since the oldest open work began: a run, a
 * failed bill, an onboarding, a cancellation, or an incident.
 */
export async function keysOfOpenWork(db: Db): Promise<string[]> {
  const oldest = await Promise.all([
    first(db, "runs", "launched_at_ms", sql`ended_at_ms is null`),
    first(db, "retries", "started_at_ms", sql`phase <> 'ended'`),
    first(db, "onboardings", "launched_at_ms", sql`ended_at_ms is null`),
    first(db, "cancellations", "requested_at_ms", sql`ended_at_ms is null`),
    first(db, "incidents", "opened_at_ms", sql`phase <> 'ended' or ${HAS_MOVING_DEPOSIT}`),
  ]);
  const since = oldest.filter((atMs) => atMs !== null);
  if (since.length === 0) return [];
  const rows = await db
    .selectFrom("leases")
    .select("name")
    .where("name", "like", `${PREFIX}%`)
    .where("until_ms", ">=", Math.min(...since))
    .execute();
  return rows.map(({ name }) => name.slice(PREFIX.length));
}

/** Returns the first instant of the open rows; null if there are none. */
async function first(
  db: Db,
  table: keyof Tables,
  column: string,
  isOpen: RawBuilder<unknown>,
): Promise<number | null> {
  const { rows } = await sql<{ at_ms: number | null }>`
    select min(${sql.ref(column)}) as at_ms from ${sql.table(table)} where ${isOpen}`.execute(db);
  const atMs = rows[0]?.at_ms ?? null;
  return atMs === null ? null : Number(atMs);
}
