import { AsyncLocalStorage } from "node:async_hooks";
import { Kysely, type KyselyPlugin, type Transaction } from "kysely";
import { StoreError } from "./errors.ts";
import { checkStoreState, inspectStore, isCurrent, migrate } from "./migrations/migrate.ts";
import { retryWhileBusy } from "./sqlite/busy.ts";
import { sqliteDdl } from "./sqlite/ddl.ts";
import { NodeSqliteDialect } from "./sqlite/dialect.ts";
import { openFile, tableNames, useWriteAheadLog } from "./sqlite/file.ts";
import type { Tables } from "./tables.ts";

export interface OpenStoreOptions {
  /** Refuse to make a new store. */
  readonly mustExist?: boolean;
  /** How long to wait for another process's write lock; 30 s unless said. */
  readonly busyLimitMs?: number;
}

export interface TransactionOptions {
  /**
   * False: survives the death of this process, but maybe not a power cut, and costs a tenth. Only
   * for what can be found out again, such as the results of requests under known keys.
   */
  readonly flush?: boolean;
}

type RunTransaction = <T>(
  fn: (trx: Transaction<Tables>) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>;

interface Scope {
  open: boolean;
  readonly flush: boolean;
}

export interface Store {
  /** For single statements outside transactions. */
  readonly db: Kysely<Tables>;
  /**
   * Runs `fn` in one write transaction: all of it is kept, or nothing where it throws.
   *
   * `fn` may run again when another process holds the lock, and it holds up every other user of
   * the store while it runs: await nothing but SQL on `trx` in it.
   *
   * @throws {StoreError} `locked` when the lock can't be had.
   */
  readonly transaction: RunTransaction;
  close(): Promise<void>;
}

/**
 * Opens the store that `url` names, makes it where there is none, and brings its schema up to date.
 *
 * @param url `sqlite:` and a path.
 * @throws {StoreError} with a line that says what to do.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const path = sqlitePath(url);
  const busyLimitMs = options.busyLimitMs ?? 30_000;
  const mustExist = options.mustExist ?? false;
  const database = openFile(path, mustExist);
  const scopes = new AsyncLocalStorage<Scope>();
  const mustFlush = () => {
    const scope = scopes.getStore();
    return scope?.open !== true || scope.flush;
  };
  const base = new Kysely<Tables>({
    dialect: new NodeSqliteDialect({ database, path, busyLimitMs, mustFlush }),
  });
  const transaction = <T>(fn: (trx: Transaction<Tables>) => Promise<T>): Promise<T> =>
    retryWhileBusy(() => base.transaction().execute(fn), path, busyLimitMs);

  const inspect = async (db: Kysely<Tables> | Transaction<Tables>) => {
    const state = await inspectStore(db, tableNames(database, path));
    checkStoreState(state, path);
    return state;
  };
  try {
    const state = await retryWhileBusy(() => inspect(base), path, busyLimitMs);
    if (state.kind === "empty" && mustExist) {
      throw new StoreError(
        "missing",
        `${path} is empty: it holds no Payrun store. Restore it from a backup, or let ` +
          "`payrun up` make a new one.",
      );
    }
    await retryWhileBusy(() => useWriteAheadLog(database), path, busyLimitMs);
    if (!isCurrent(state)) {
      await transaction(async (trx) => migrate(trx, await inspect(trx), sqliteDdl, Date.now()));
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return guarded(base, transaction, scopes);
}

/** Finds the path in `sqlite:/path`, `sqlite:///path` or `sqlite:path`. */
function sqlitePath(url: string): string {
  if (/^postgres(ql)?:/.test(url)) {
    throw new StoreError(
      "unsupported",
      "PAYRUN_DATABASE_URL names PostgreSQL, but this version keeps its store in SQLite. " +
        "Set it to sqlite:PATH.",
    );
  }
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  if (path === undefined) {
    throw new StoreError(
      "unsupported",
      "PAYRUN_DATABASE_URL must be sqlite:PATH, for example sqlite:.payrun/payrun.db.",
    );
  }
  return path;
}

/**
 * Makes using the store inside its own transaction an error.
 *
 * There is one connection: such a statement would wait for the transaction, and the transaction
 * for it, for ever.
 */
function guarded(
  base: Kysely<Tables>,
  transaction: RunTransaction,
  scopes: AsyncLocalStorage<Scope>,
): Store {
  const refuse = () => {
    if (scopes.getStore()?.open === true) {
      throw new Error("Inside a transaction of the store: use its `trx`, not the store.");
    }
  };
  const guard: KyselyPlugin = {
    transformQuery: ({ node }) => {
      refuse();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return {
    db: base.withPlugin(guard),
    async transaction(fn, options = {}) {
      refuse();
      const scope = { open: true, flush: options.flush ?? true };
      try {
        return await scopes.run(scope, () => transaction(fn));
      } finally {
        scope.open = false;
      }
    },
    close: () => base.destroy(),
  };
}
