import type { Db } from "../sql/db.ts";

/** A business at an instant of its clock. */
interface BusinessMoment {
  readonly businessId: string;
  /** Business-clock instant, whole milliseconds. */
  readonly businessMs: number;
}

/**
 * Returns the business-clock instant at which the next hold of a business ends by itself; null if
 * none does.
 */
export async function nextHoldEndMs(
  db: Db,
  { businessId, businessMs }: BusinessMoment,
): Promise<number | null> {
  const row = await db
    .selectFrom("holds")
    .select((eb) => eb.fn.min("until_ms").as("at"))
    .where("business_id", "=", businessId)
    .where("released_at_ms", "is", null)
    .where("until_ms", ">", businessMs)
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * Returns the business-clock instants at which something about a run's lines changes by itself: a
 * hold ends, an approval lapses, or a line that waits for an event is tried again.
 */
export async function nextChangesMs(
  db: Db,
  run: BusinessMoment & { readonly runId: string },
): Promise<readonly (number | null)[]> {
  const { runId, businessMs } = run;
  const lapse = await db
    .selectFrom("decisions")
    .select((eb) => eb.fn.min("expires_at_ms").as("at"))
    .where("run_id", "=", runId)
    .where("outcome", "=", "accepted")
    .where("expires_at_ms", ">", businessMs)
    .executeTakeFirst();
  const poll = await db
    .selectFrom("run_lines")
    .select((eb) => eb.fn.min("poll_at_ms").as("at"))
    .where("run_id", "=", runId)
    .where("state", "=", "on-hold")
    .where("poll_at_ms", ">", businessMs)
    .executeTakeFirst();
  return [await nextHoldEndMs(db, run), lapse?.at ?? null, poll?.at ?? null];
}
