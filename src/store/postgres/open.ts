import { AsyncLocalStorage } from "node:async_hooks";
import {
  HandleEmptyInListsPlugin,
  Kysely,
  replaceWithNoncontingentExpression,
  type Transaction,
} from "kysely";
import { StoreError } from "../sql/errors.ts";
import { checkStore, makeSchema } from "../sql/schema.ts";
import { smallWrite } from "../sql/small-write.ts";
import { guarded, type Scope } from "../transactions/guarded.ts";
import { type OpenStoreOptions, type RunTransaction, type Store } from "../sql/store.ts";
import type { Tables } from "../schema/tables.ts";
import { again } from "./again.ts";
import { postgresDdl } from "./ddl.ts";
import { poolDialect, type PostgresConfig, runAlone, type TransactionHooks } from "./dialect.ts";
import { isNobodyThere, toStoreError } from "./errors.ts";
import { beginStatements, timeLimits } from "./limits.ts";
import { type Location, locationOf } from "./location.ts";
import { SCHEMA_LOCK } from "./locks.ts";
import { makePool } from "./pool.ts";
import { Sessions } from "./sessions.ts";
import { MarkCleaner, Tries, TransactionQueue } from "./transactions.ts";

const DEFAULT_POOL_SIZE = 10;

/** Opens the store in a PostgreSQL database; see `openStore`. */
export async function openPostgres(url: string, options: OpenStoreOptions): Promise<Store> {
  const location = locationOf(url);
  const busyLimitMs = options.busyLimitMs ?? 30_000;
  const limits = timeLimits(busyLimitMs);
  const beginning = beginStatements(limits);
  const sessions = new Sessions(
    makePool(url, { max: options.poolSize ?? DEFAULT_POOL_SIZE, answerMs: limits.answerMs }),
  );
  const tries = new AsyncLocalStorage<{ readonly hooks: TransactionHooks }>();
  const over = (single: PostgresConfig["single"]) =>
    new Kysely<Tables>({
      dialect: poolDialect({
        sessions,
        beginning,
        single,
        hooks: {
          begin: () => tries.getStore()?.hooks.begin() ?? [SCHEMA_LOCK],
          begun: async (client) => tries.getStore()?.hooks.begun(client),
          committing: () => tries.getStore()?.hooks.committing(),
        },
      }),
      plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
    });
  const base = over((work) => inWords(location, () => again(work, busyLimitMs)));
  try {
    // A server that can't be reached at the start is a mistake in the settings; one that is
    // starting up is waited for.
    const reach = () => runAlone({ sessions, beginning }, "select 1");
    await inWords(location, () => again(reach, busyLimitMs, isNobodyThere));
    // What a lost try left, the next one finds: all of the store, or nothing.
    const make = () => prepare(base, location, options.mustExist ?? false);
    await inWords(location, () => again(make, busyLimitMs));
  } catch (error) {
    await sessions.close();
    throw error;
  }
  const turns = new TransactionQueue();
  const marks = new MarkCleaner((statement) => runAlone({ sessions, beginning }, statement));
  const transaction: RunTransaction = (fn, asked) => {
    // Counted from here, not from its turn: while a server is away, all waiting transactions give
    // up together.
    const giveUpAt = performance.now() + busyLimitMs;
    return turns.take(asked.businessId ?? "", () => {
      marks.count();
      const all = new Tries(asked);
      return tries.run(all, () =>
        inWords(location, () => all.run(base, fn, giveUpAt - performance.now())),
      );
    });
  };
  // Without another try: a probe is to say how things stand now.
  const once = over((work) => inWords(location, work));
  return guarded(base, transaction, {
    scopes: new AsyncLocalStorage<Scope>(),
    tryToWrite: () => smallWrite(once),
  });
}

async function prepare(
  base: Kysely<Tables>,
  { text, database }: Location,
  mustExist: boolean,
): Promise<void> {
  const isThere = async (db: Kysely<Tables> | Transaction<Tables>): Promise<boolean> =>
    checkStore(db, await tableNames(db), postgresDdl, {
      location: text,
      makeRoom: `drop the database and create it anew (dropdb ${database}; createdb ${database})`,
    });
  if (await isThere(base)) return;
  if (mustExist) {
    throw new StoreError(
      "missing",
      `${text} is empty: it holds no Payrun store. Restore it from a backup, or let ` +
        "`payrun up`, `payrun worker` or `payrun gateway` make a new one.",
    );
  }
  await base.transaction().execute(async (trx) => {
    if (!(await isThere(trx))) await makeSchema(trx, postgresDdl);
  });
}

/** Returns the tables of the schema in which ours are, or would be created. */
async function tableNames(db: Kysely<Tables> | Transaction<Tables>): Promise<string[]> {
  const rows = await db
    .withTables<{ "pg_catalog.pg_tables": { schemaname: string; tablename: string } }>()
    .selectFrom("pg_catalog.pg_tables")
    .select("tablename")
    .where((eb) => eb("schemaname", "=", eb.fn<string>("current_schema")))
    .orderBy("tablename")
    .execute();
  return rows.map((row) => row.tablename);
}

async function inWords<T>(location: Location, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(error, location);
  }
}
