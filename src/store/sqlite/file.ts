import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../sql/errors.ts";
import { damaged, isCorrupt, isNotADatabase } from "./errors.ts";

/** SQLite waits this long by itself, blocking the event loop; longer waits happen outside. */
const BLOCKING_WAIT_MS = 20;

/**
 * Opens the file, or creates an empty one that only its owner may read, folder included.
 *
 * @throws {StoreError} `missing`, `unreadable`.
 */
export function openFile(path: string, mustExist: boolean): DatabaseSync {
  if (mustExist && !existsSync(path)) {
    throw new StoreError(
      "missing",
      `There is no Payrun store at ${path}. Start one with \`payrun up\`, or set ` +
        "PAYRUN_DATABASE_URL to where it is.",
    );
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite gives its log files the rights of the main file.
    closeSync(openSync(path, "a", 0o600));
    return new DatabaseSync(path, { timeout: BLOCKING_WAIT_MS });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(
      "unreadable",
      `The store ${path} can't be opened for writing (${reason}). Check the path and its rights.`,
      { cause: error },
    );
  }
}

/**
 * Returns the names of the tables in the file; changes nothing, so that a foreign file stays as it
 * is.
 *
 * @throws {StoreError} `foreign` if it isn't SQLite, `corrupt` if it is damaged.
 */
export function tableNames(database: DatabaseSync, path: string): string[] {
  try {
    return database
      .prepare(
        `select name from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!' order by name`,
      )
      .all()
      .map((row) => String(row["name"]));
  } catch (error) {
    if (isNotADatabase(error)) {
      throw new StoreError(
        "foreign",
        `${path} is not a SQLite database. It was left alone; set PAYRUN_DATABASE_URL to another file.`,
        { cause: error },
      );
    }
    if (isCorrupt(error)) {
      throw new StoreError("corrupt", damaged(path), { cause: error });
    }
    throw error;
  }
}

/**
 * Lets readers go on while one process writes, and makes every commit survive a power cut: what was
 * promised (an acknowledged webhook, a decision) must not be lost.
 */
export function useWriteAheadLog(database: DatabaseSync): void {
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = full");
  // A large run changes the same pages again and again: they stay in the cache, and move out of the
  // log every 32 MiB instead of every four.
  database.exec("pragma cache_size = -32000");
  database.exec("pragma wal_autocheckpoint = 8000");
}
