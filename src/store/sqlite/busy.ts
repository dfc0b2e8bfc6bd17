import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../sql/errors.ts";
import { isLockedNow } from "./errors.ts";

const LONGEST_PAUSE_MS = 60;

/**
 * Runs `work` again, after short random pauses, while another process holds the write lock.
 *
 * SQLite's own busy handler blocks the event loop, so it gets only a few milliseconds, and the rest
 * of the waiting happens here. The pauses are random because two processes that wait equally long
 * would meet again.
 *
 * @throws {StoreError} `locked` after `limitMs`.
 */
export async function retryWhileBusy<T>(
  work: () => T | Promise<T>,
  path: string,
  limitMs: number,
): Promise<T> {
  const startedAt = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockedNow(error)) throw error;
      if (performance.now() - startedAt > limitMs) {
        throw new StoreError(
          "locked",
          `${path}: another process kept the store locked for ${Math.round(limitMs / 1000)} s. ` +
            "Close whatever has the file open (a database browser, a backup), then try again.",
          { cause: error },
        );
      }
      await sleep(1 + Math.random() * Math.min(LONGEST_PAUSE_MS, 4 * tries));
    }
  }
}
