import { sql } from "kysely";
import { HOUR_MS } from "../../contracts/durations.ts";
import { readerOf } from "./as-record.ts";
import type { Db } from "./db.ts";
import { type Lease, takeLease } from "./leases.ts";
import { changeRecords } from "./records.ts";

/** How long a worker may be silent before it counts as gone. */
const SILENT_AFTER_MS = 30_000;

/** How long a worker that is gone stays listed; after that, it is no news any more. */
const FORGOTTEN_AFTER_MS = HOUR_MS;

const PREFIX = "worker/";

const toLease = readerOf("leases");

/** A worker as the store knows it. */
export interface KnownWorker {
  /** `host:pid`. */
  readonly workerId: string;
  /** Milliseconds since it was last heard of, by the database's clock; 0 while it works. */
  readonly silentMs: number;
  /**
   * Ids of its encryption keys, first the one that it encrypts with; null until it recorded them.
   */
  readonly keyIds: readonly string[] | null;
}

const leaseOf = (workerId: string): Lease => ({ name: `${PREFIX}${workerId}`, holder: workerId });

/** Records that a worker works and which keys it has, and forgets workers that are long gone. */
export async function noteWorker(
  db: Db,
  workerId: string,
  keyIds: readonly string[] = [],
): Promise<void> {
  const lease = leaseOf(workerId);
  await takeLease(db, lease, SILENT_AFTER_MS);
  await changeRecords(db, "leases", { name: lease.name }, { keyIds });
  await db
    .deleteFrom("leases")
    .where("name", "like", `${PREFIX}%`)
    .where("until_ms", "<", sql<number>`payrun_now_ms() - ${FORGOTTEN_AFTER_MS}`)
    .execute();
}

/** Forgets workers that have stopped properly, or whose process is known to be gone. */
export async function forgetWorkers(db: Db, workerIds: readonly string[]): Promise<void> {
  if (workerIds.length === 0) return;
  const names = workerIds.map((workerId) => leaseOf(workerId).name);
  await db.deleteFrom("leases").where("name", "in", names).execute();
}

/** Returns every worker that was heard of within the hour, the one heard of last first. */
export async function knownWorkers(db: Db): Promise<KnownWorker[]> {
  const rows = await db
    .selectFrom("leases")
    .select(["name", "until_ms", "key_ids", sql<number>`payrun_now_ms()`.as("now_ms")])
    .where("name", "like", `${PREFIX}%`)
    .orderBy("until_ms", "desc")
    .execute();
  return rows.map(({ now_ms: nowMs, ...row }) => {
    const { name, untilMs, keyIds } = toLease(row);
    return {
      workerId: name.slice(PREFIX.length),
      silentMs: untilMs > nowMs ? 0 : nowMs - untilMs + SILENT_AFTER_MS,
      keyIds,
    };
  });
}
