import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../sql/db.ts";
import { releaseLease, takeLease } from "../sql/leases.ts";

/** Longer than any act on a schedule takes, even with a slow Temporal. */
const HELD_MS = 30_000;
const ASK_AGAIN_MS = 50;

/**
 * Does something to a playbook's schedule at Temporal, and records it, while no other process does.
 * So the schedule and its record are compared only between two acts.
 *
 * @param waitMs how long to wait for another process that is at it
 * @returns what `work` returned, or undefined if another process was at it all the time
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
