import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LANES_MAX } from "../../src/domain/runs/lanes.ts";
import { heldLeases, type Lease, releaseLease, takeLease } from "../../src/store/sql/leases.ts";
import type { Store } from "../../src/store/index.ts";

/** Failed bills that may be paid again at the same time; each keeps one request in flight. */
const RETRIES_MAX = 20;

/** How long the slot of a process that died stays taken. */
const SLOT_MS = 10_000;
const RENEW_EVERY_MS = 3_000;
const ASK_EVERY_MS = 300;

/**
 * How many lanes and retries may pay for one business at the same time, over all runs and
 * processes.
 */
const SLOTS = { lane: LANES_MAX, retry: RETRIES_MAX } as const;

/**
 * Does a part of paying as soon as few enough others, in all processes, do the same for the
 * business: the service sees no more requests at once from many runs and workers than from one.
 *
 * A slot bounds the load and guards no money; second payments are prevented elsewhere.
 *
 * @param whileWaiting gets the wait for a slot, and shows it
 * @returns undefined if `stop` came before a slot was free
 */
export async function inSlot<T>(
  store: Store,
  wanted: { readonly kind: keyof typeof SLOTS; readonly businessId: string },
  stop: AbortSignal,
  work: () => Promise<T>,
  whileWaiting = (turn: Promise<Lease | undefined>) => turn,
): Promise<T | undefined> {
  const slot = await whileWaiting(takeSlot(store, wanted, stop));
  if (slot === undefined) return undefined;
  const renewal = setInterval(() => {
    // The work goes on even if a freeze loses the slot to another, or while the store is away.
    takeLease(store.db, slot, SLOT_MS).catch(() => undefined);
  }, RENEW_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await releaseLease(store.db, slot);
  }
}

async function takeSlot(
  store: Store,
  { kind, businessId }: { readonly kind: keyof typeof SLOTS; readonly businessId: string },
  stop: AbortSignal,
): Promise<Lease | undefined> {
  const holder = randomUUID();
  const names = Array.from({ length: SLOTS[kind] }, (_, slot) => `${kind}/${businessId}/${slot}`);
  while (!stop.aborted) {
    const held = await heldLeases(store.db, names);
    for (const name of names.filter((each) => !held.has(each))) {
      if (await takeLease(store.db, { name, holder }, SLOT_MS)) {
        return { name, holder };
      }
    }
    await sleep(ASK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return undefined;
}
