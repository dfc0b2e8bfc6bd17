import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isBusy } from "./errors.ts";
import { refuseLogOfAnother } from "./same-file.ts";

/** Long enough for a connection that is just being closed. */
const WAIT_MS = 200;

/**
 * True where another connection, of any process, has the file open.
 *
 * @throws {StoreError} `replaced` where the log beside it belongs to another file
 */
export function isFileInUse(path: string): boolean {
  if (!existsSync(path)) return false;
  refuseLogOfAnother(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: WAIT_MS });
    // Whoever reads a file with a write-ahead log keeps a shared lock on it for as long as it is
    // open, so that the exclusive one can't be had.
    database.exec("pragma locking_mode = exclusive");
    database.exec("begin immediate");
    database.exec("rollback");
    return false;
  } catch (error) {
    // Whoever opens it next says what else is wrong with it.
    return isBusy(error);
  } finally {
    database?.close();
  }
}
