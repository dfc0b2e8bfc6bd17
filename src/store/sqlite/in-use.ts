import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isLockedNow } from "./errors.ts";
import { refuseLogOfAnother } from "./same-file.ts";

/** Long enough for a connection that is just being closed. */
const WAIT_MS = 200;

/**
 * True if another connection, of any process, has the file open.
 *
 * @throws {StoreError} `replaced` if the log beside it belongs to another file
 */
export function isFileInUse(path: string): boolean {
  if (!existsSync(path)) return false;
  refuseLogOfAnother(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: WAIT_MS });
    // Every reader of a WAL database holds a shared lock for as long as it has the file open, so
    // that the exclusive lock can't be had.
    database.exec("pragma locking_mode = exclusive");
    database.exec("begin immediate");
    database.exec("rollback");
    return false;
  } catch (error) {
    // The next process to open the file reports anything else that is wrong with it.
    return isLockedNow(error);
  } finally {
    database?.close();
  }
}
