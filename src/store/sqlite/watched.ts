import { type BigIntStats, statSync } from "node:fs";
import { basename } from "node:path";
import { StoreError } from "../sql/errors.ts";
import type { Connection } from "./connection.ts";
import { toStoreError } from "./errors.ts";

/**
 * Returns a connection that notices when its file is deleted or replaced by another one. The
 * operating system would let this process go on with the old file, which no other process sees:
 * what it wrote would be lost with its last reader.
 *
 * Checks before each transaction, and after each transaction and each single statement, so that
 * nothing is reported as written that isn't. What else keeps it from writing is reported as users
 * of a store know it.
 *
 * @throws {StoreError} `replaced`, from then on; `full`, `read_only`, `failing` or `corrupt`
 */
export function watched(connection: Connection, path: string): Connection {
  const opened = fileAt(path);
  const check = (): void => {
    const now = fileAt(path);
    if (now !== undefined && now.ino === opened?.ino && now.dev === opened.dev) return;
    const what = now === undefined ? "deleted or moved away" : "replaced by another file";
    throw new StoreError(
      "replaced",
      `The store ${path} was ${what} while this process had it open, so nothing that it writes is kept. ` +
        `Stop every worker and gateway, delete what is left of ${basename(path)}, its -wal and -shm, put the right file in place (a restored backup), then start a gateway and a worker.`,
    );
  };
  const inWords = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw toStoreError(error, path);
    }
  };
  return {
    get inTransaction() {
      return connection.inTransaction;
    },
    begin: async (flush) => {
      check();
      await inWords(connection.begin(flush));
    },
    commit: async () => {
      await inWords(connection.commit());
      check();
    },
    rollback: () => connection.rollback(),
    run: async (sql, parameters) => {
      const isAlone = !connection.inTransaction;
      const outcome = await inWords(connection.run(sql, parameters));
      if (isAlone) check();
      return outcome;
    },
    close: () => connection.close(),
  };
}

function fileAt(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
