import { readFileSync } from "node:fs";
import type { Pool } from "undici";

/** The results of a stretch of load. */
export interface Stretch {
  perSecond: number;
  /** Milliseconds within which 50 and 99 of 100 requests were answered. */
  p50Ms: number;
  p99Ms: number;
  /** Cores that the server used; undefined if the system doesn't report it. */
  cores: number | undefined;
}

/** Sends one request; throws if the answer is not as expected. */
export type Send = (pool: Pool, index: number) => Promise<void>;

const inFlight = 40;

/**
 * Keeps 40 requests in flight until `count` have been sent or the time is over.
 *
 * @param pid the server whose processor time is read.
 */
export async function load(
  pool: Pool,
  pid: number | undefined,
  send: Send,
  limits: { forMs: number; count?: number },
): Promise<Stretch> {
  const tookMs: number[] = [];
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  const endAt = startedAt + limits.forMs;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < (limits.count ?? Number.POSITIVE_INFINITY)) {
      const sentAt = performance.now();
      if (sentAt >= endAt) return;
      const index = next;
      next += 1;
      await send(pool, index);
      tookMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuAfter = cpuSeconds(pid);
  tookMs.sort((a, b) => a - b);
  return {
    perSecond: tookMs.length / seconds,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    cores:
      cpuBefore === undefined || cpuAfter === undefined
        ? undefined
        : (cpuAfter - cpuBefore) / seconds,
  };
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns a process's processor time so far, in seconds; undefined if there is no `/proc`. */
export function cpuSeconds(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticksPerSecond = 100;
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return undefined;
  }
}
