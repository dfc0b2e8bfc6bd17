import { AsyncLocalStorage } from "node:async_hooks";
import { basename } from "node:path";
import { Kysely, sql, type Transaction } from "kysely";
import { StoreError } from "../sql/errors.ts";
import { checkStore, makeSchema } from "../sql/schema.ts";
import { smallWrite } from "../sql/small-write.ts";
import { guarded, type Scope } from "../transactions/guarded.ts";
import { type OpenStoreOptions, type Store } from "../sql/store.ts";
import type { Tables } from "../schema/tables.ts";
import { retryWhileBusy } from "./busy.ts";
import { sqliteDdl } from "./ddl.ts";
import { type Connection, FileConnection } from "./connection.ts";
import { nodeSqliteDialect } from "./dialect.ts";
import { toStoreError } from "./errors.ts";
import { openFile, tableNames, useWriteAheadLog } from "./file.ts";
import { openThread } from "./open-thread.ts";
import { noteFile, refuseLogOfAnother } from "./same-file.ts";
import { watched } from "./watched.ts";

/** Opens the store in a file; see `openStore`. */
export async function openSqlite(path: string, options: OpenStoreOptions): Promise<Store> {
  if (options.ownThread === true && options.nowMs !== undefined) {
    throw new Error("a store in a thread of its own can't ask a clock of this thread");
  }
  const busyLimitMs = options.busyLimitMs ?? 30_000;
  const mustExist = options.mustExist ?? false;
  refuseLogOfAnother(path);
  const database = openFile(path, mustExist);
  const scopes = new AsyncLocalStorage<Scope>();
  const mustFlush = () => {
    const scope = scopes.getStore();
    return scope?.open !== true || scope.flush !== false;
  };
  const over = (connection: Connection) =>
    new Kysely<Tables>({
      dialect: nodeSqliteDialect({
        connection: watched(connection, path),
        path,
        busyLimitMs,
        mustFlush,
      }),
    });
  const first = over(new FileConnection(database, options.nowMs));
  const transactionOn =
    (base: Kysely<Tables>) =>
    <T>(fn: (trx: Transaction<Tables>) => Promise<T>): Promise<T> =>
      retryWhileBusy(() => base.transaction().execute(fn), path, busyLimitMs);

  const isThere = async (db: Kysely<Tables> | Transaction<Tables>): Promise<boolean> =>
    checkStore(db, tableNames(database, path), sqliteDdl, {
      location: path,
      makeRoom: `move the file away, with ${basename(path)}-wal and -shm beside it`,
    });
  try {
    const isMade = await retryWhileBusy(() => isThere(first), path, busyLimitMs);
    if (!isMade && mustExist) {
      throw new StoreError(
        "missing",
        `${path} is empty: it holds no Payrun store. Restore it from a backup, or let ` +
          "`payrun up` make a new one.",
      );
    }
    await retryWhileBusy(() => useWriteAheadLog(database), path, busyLimitMs);
    if (!isMade) {
      await transactionOn(first)(async (trx) => {
        if (!(await isThere(trx))) await makeSchema(trx, sqliteDdl);
      });
    }
    noteFile(path);
  } catch (error) {
    database.close();
    throw toStoreError(error, path);
  }
  const store = (base: Kysely<Tables>): Store =>
    // In a transaction, so that reads go on while it waits for another process's lock.
    guarded(base, transactionOn(base), {
      scopes,
      tryToWrite: () => transactionOn(base)(smallWrite),
    });
  if (options.ownThread !== true) return store(first);
  await first.destroy();
  const base = over(openThread(path));
  // A thread that can't begin reports it here.
  await sql`select 1`.execute(base);
  return store(base);
}
