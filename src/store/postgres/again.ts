import { setTimeout as sleep } from "node:timers/promises";
import { isCollision, isSessionOver } from "./errors.ts";

const LONGEST_PAUSE_MS = 1_000;

/**
 * Runs `work` again, after growing random pauses, if its session was lost or takes no writes, or the
 * database undid it because of another transaction, until `limitMs` have passed.
 *
 * @param giveUp returns true for an error that ends it at once
 */
export async function again<T>(
  work: () => Promise<T>,
  limitMs: number,
  giveUp: (error: unknown) => boolean = () => false,
): Promise<T> {
  const startedAt = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (giveUp(error) || !(isSessionOver(error) || isCollision(error))) throw error;
      if (performance.now() - startedAt > limitMs) throw error;
      const longest = Math.min(LONGEST_PAUSE_MS, 20 * 2 ** Math.min(tries, 6));
      await sleep(longest * (0.5 + Math.random() / 2));
    }
  }
}
