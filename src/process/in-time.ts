import { setTimeout as sleep } from "node:timers/promises";

/** Returns what is awaited, or `otherwise` if it takes longer; what was begun goes on. */
export async function inTime<T, U>(
  asked: Promise<T>,
  withinMs: number,
  otherwise: U,
): Promise<T | U> {
  const over = new AbortController();
  const late = sleep(withinMs, otherwise, { ref: false, signal: over.signal });
  late.catch(() => undefined);
  return Promise.race([asked, late]).finally(() => over.abort());
}
