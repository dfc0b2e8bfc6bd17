import { StoreError } from "./sql/errors.ts";
import { openPostgres } from "./postgres/open.ts";
import { openSqlite } from "./sqlite/open.ts";
import type { OpenStoreOptions, Store } from "./sql/store.ts";

/**
 * Opens the store that `url` names, and creates it if there is none.
 *
 * @param url `sqlite:` and a path, or `postgres://user:password@host:port/database`
 * @throws {StoreError} with a line that says what to do.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  if (isPostgres(url)) {
    if (options.nowMs !== undefined) throw new Error("PostgreSQL has a clock of its own");
    return openPostgres(url, options);
  }
  return openSqlite(sqlitePath(url), options);
}

/**
 * True if `url` names a PostgreSQL database, so that worker and gateway may run on different hosts.
 */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/**
 * Returns the path in `sqlite:/path`, `sqlite:///path` or `sqlite:path`.
 *
 * @throws {StoreError} `unsupported`
 */
export function sqlitePath(url: string): string {
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  if (path === undefined) {
    throw new StoreError(
      "unsupported",
      "The address of a store (PAYRUN_DATABASE_URL) is sqlite:PATH, for example " +
        "sqlite:.payrun/payrun.db, or " +
        "postgres://USER:PASSWORD@HOST:PORT/DATABASE.",
    );
  }
  return path;
}
