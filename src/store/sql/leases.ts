import { sql } from "kysely";
import type { Db } from "./db.ts";
import { deleteRecords } from "./records.ts";

/** Something that one holder at a time may do, across all processes of the store. */
export interface Lease {
  readonly name: string;
  /** Names the process, and whatever in it asks. */
  readonly holder: string;
}

/** The database's clock, so that hosts whose own differ agree on when a lease has ended. */
const NOW = sql<number>`payrun_now_ms()`;

/**
 * Takes a lease, or keeps it for longer, unless somebody else holds it.
 *
 * It keeps others from beginning; a process that froze past its lease may still go on with what
 * it has begun, so whatever is done under a lease must be safe to be done twice.
 *
 * @param forMs after which somebody else may take it
 * @returns true where `holder` has it until then
 */
export async function takeLease(db: Db, lease: Lease, forMs: number): Promise<boolean> {
  const untilMs = sql<number>`${NOW} + cast(${Math.round(forMs)} as bigint)`;
  const row = await db
    .insertInto("leases")
    .values({ name: lease.name, holder: lease.holder, until_ms: untilMs })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ holder: lease.holder, until_ms: untilMs })
        .where((eb) =>
          eb.or([eb("leases.holder", "=", lease.holder), eb("leases.until_ms", "<=", NOW)]),
        ),
    )
    .returning("name")
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives a lease back before its time; nothing happens where somebody else holds it by now. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  const { name, holder } = lease;
  await deleteRecords(db, "leases", { name, holder });
}

/** Which of these leases somebody holds now. */
export async function heldLeases(db: Db, names: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("leases")
    .select("name")
    .where("name", "in", names)
    .where("until_ms", ">", NOW)
    .execute();
  return new Set(rows.map((row) => row.name));
}
