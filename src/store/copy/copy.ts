import { setTimeout as sleep } from "node:timers/promises";
import { sql, type Transaction } from "kysely";
import { databaseNowMs } from "../sql/database-clock.ts";
import { chunks } from "../sql/db.ts";
import { isPostgres, openStore, sqlitePath } from "../open.ts";
import { continueNumbers, countConnections, freezeTables } from "../postgres/copying.ts";
import { isFileInUse } from "../sqlite/in-use.ts";
import { untyped } from "../sql/records.ts";
import { TABLE_NAMES, TABLES, type Tables } from "../schema/tables.ts";
import { CopyRefusedError } from "./refused.ts";

const PAGE_ROWS = 2_000;

/** A server notices a moment later than its client that a connection is closed. */
const CLOSING_MS = 1_000;

/** How many rows of each table were copied. */
export type CopyReport = Readonly<Record<string, number>>;

/**
 * Copies a whole store into an empty one, of the same kind or the other, in one transaction: all of
 * it is there afterwards, or nothing.
 *
 * Both have the schema of this program. The source stays as it is.
 *
 * @throws {CopyRefusedError} if the target is not empty, a run is leasing lines, or processes of
 * Payrun have one of the two open, as far as that can be known
 * @throws {StoreError} if one of the two can't be opened
 */
export async function copyStore(fromUrl: string, toUrl: string): Promise<CopyReport> {
  if (fromUrl === toUrl) throw new CopyRefusedError("same", "--from and --to name the same store.");
  await refuseInUse("--from", fromUrl);
  await refuseInUse("--to", toUrl);
  const from = await openStore(fromUrl, { mustExist: true });
  try {
    const to = await openStore(toUrl);
    try {
      return await from.transaction(async (source) => {
        if (isPostgres(fromUrl)) await freezeTables(source, TABLE_NAMES);
        await refuseWhileLeasing(source);
        return to.transaction(async (target) => {
          await refuseUnlessEmpty(target);
          const report = await copyTables(source, target);
          if (isPostgres(toUrl)) await continueNumbers(target);
          return report;
        });
      });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function refuseInUse(option: string, url: string): Promise<void> {
  const isUsed = async (): Promise<boolean> =>
    isPostgres(url) ? (await countConnections(url)) > 0 : isFileInUse(sqlitePath(url));
  const deadline = performance.now() + CLOSING_MS;
  while (await isUsed()) {
    if (performance.now() < deadline) await sleep(100);
    else {
      throw new CopyRefusedError(
        "in_use",
        `The store of ${option} is open elsewhere. Stop every worker, gateway and “payrun up” that ` +
          "uses it, then copy again.",
      );
    }
  }
}

async function refuseWhileLeasing(trx: Transaction<Tables>): Promise<void> {
  const nowMs = await databaseNowMs(trx);
  const line = await trx
    .selectFrom("run_lines")
    .select("run_id")
    .where("lease_until_ms", ">=", nowMs)
    .orderBy("run_id")
    .executeTakeFirst();
  if (line === undefined) return;
  throw new CopyRefusedError(
    "leasing",
    `${line.run_id} is paying right now: its lines are leased to a worker. Stop the workers, wait ` +
      "a minute, then copy again.",
  );
}

async function refuseUnlessEmpty(trx: Transaction<Tables>): Promise<void> {
  for (const table of TABLE_NAMES) {
    const rows = await countRows(trx, table);
    if (rows === 0) continue;
    throw new CopyRefusedError(
      "not_empty",
      `The store of --to is not empty: its table ${table} has ${rows} rows. Name a new file or an ` +
        "empty database.",
    );
  }
}

async function copyTables(
  source: Transaction<Tables>,
  target: Transaction<Tables>,
): Promise<CopyReport> {
  const report: Record<string, number> = {};
  for (const table of TABLE_NAMES) {
    // The target has recorded ends of its own: an end that was cut off in the source must go on
    // showing.
    if (table === "audit_ends") await target.deleteFrom(table).execute();
    for await (const rows of pagesOf(source, table)) {
      for (const some of chunks(rows)) {
        await untyped(target).insertInto(table).values(some).execute();
      }
    }
    const [there, here] = [await countRows(source, table), await countRows(target, table)];
    if (there !== here) {
      throw new Error(`of ${there} rows of ${table}, ${here} arrived; nothing was kept`);
    }
    report[table] = here;
  }
  return report;
}

/** Yields the rows of a table by page, each page after the last row of the one before. */
async function* pagesOf(
  trx: Transaction<Tables>,
  table: keyof Tables,
): AsyncGenerator<readonly Record<string, unknown>[]> {
  const keys: readonly string[] = TABLES[table].key;
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  let last: Record<string, unknown> | undefined;
  for (;;) {
    let query = untyped(trx).selectFrom(table).selectAll();
    for (const key of keys) query = query.orderBy(key);
    if (last !== undefined) {
      const row = last;
      const values = sql.join(keys.map((key) => sql.val(row[key])));
      query = query.where(sql<boolean>`(${columns}) > (${values})`);
    }
    const rows = await query.limit(PAGE_ROWS).execute();
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    last = rows.at(-1);
  }
}

async function countRows(trx: Transaction<Tables>, table: keyof Tables): Promise<number> {
  const row = await untyped(trx)
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
