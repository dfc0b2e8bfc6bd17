import { sql } from "kysely";
import type { Db } from "./db.ts";
import { deleteRecords } from "./records.ts";

/** The right of one holder at a time to do something, across all processes that use the store. */
export interface Lease {
  readonly name: string;
  /** Names the process, and the part of it that takes the lease. */
  readonly holder: string;
}

/** The database's clock, so that hosts whose own clocks differ agree on when a lease ends. */
const NOW = sql<number>`payrun_now_ms()`;

/**
 * Takes a lease, or extends it, unless another holder has it.
 *
 * A lease keeps others from beginning. A process that froze past the end of its lease may still go
 * on with what it has begun, so work under a lease must be safe to do twice.
 *
 * @param forMs milliseconds after which another holder may take it
 * @returns true if `holder` has it until then
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

/** Releases a lease before its end; does nothing if another holder has it by now. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  const { name, holder } = lease;
  await deleteRecords(db, "leases", { name, holder });
}

/** Returns the names of those leases that are held now. */
export async function heldLeases(db: Db, names: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom("leases")
    .select("name")
    .where("name", "in", names)
    .where("until_ms", ">", NOW)
    .execute();
  return new Set(rows.map((row) => row.name));
}
