import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../sql/db.ts";
import { releaseLease, takeLease } from "../sql/leases.ts";

/** Longer than what is done with a schedule takes, with a slow Temporal in it. */
const HELD_MS = 30_000;
const ASK_AGAIN_MS = 50;

/**
 * Does something to a playbook's schedule at Temporal, and records it, while no other process does:
 * so what stands there and what is recorded are compared only between two acts.
 *
 * @param waitMs how long to wait for whoever is at it
 * @returns what `work` returned, or undefined where somebody else was at it all the time
 */
export async function withSchedule<T extends object>(
  db: Db,
  of: { readonly business: string; readonly playbook: string },
  waitMs: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const lease = { name: `schedule/${of.business}/${of.playbook}`, holder: randomUUID() };
  for (const untilMs = Date.now() + waitMs; ; await sleep(ASK_AGAIN_MS)) {
    if (await takeLease(db, lease, HELD_MS)) break;
    if (Date.now() >= untilMs) return undefined;
  }
  try {
    return await work();
  } finally {
    await releaseLease(db, lease);
  }
}
