import type { Store } from "../store/index.ts";
import { deletePendingSignals } from "../store/signals/pending-signals.ts";
import { type PendingSignal } from "../store/sql/store.ts";
import { eachOf } from "./each-of.ts";
import { reasonOf } from "./repeat.ts";

/** `closed`: no such workflow runs any more; `failed`: it is to be told later. */
export type Tell = (workflowId: string) => Promise<"told" | "closed" | "failed">;

/** Workflows that a process tells at the same time: a mass of them must leave Temporal room for others. */
export const SIGNALS_AT_ONCE = 2;

/** A transaction that concerns more leaves them to the gateways, which tell them in their turn. */
const MASS = 20;

/** So do all others while so many wait to be told. */
const WAITING_MOST = 100;

/**
 * Tells each of these workflows to look, once, and forgets what has been told.
 *
 * @returns how many stay, because they could not be told
 */
export async function sendSignals(
  db: Store["db"],
  pendingSignals: readonly PendingSignal[],
  tell: Tell,
): Promise<number> {
  const done: PendingSignal[] = [];
  const byWorkflow = Map.groupBy(pendingSignals, ({ workflowId }) => workflowId);
  await eachOf([...byWorkflow], SIGNALS_AT_ONCE, async ([workflowId, ofOne]) => {
    if ((await tell(workflowId)) !== "failed") done.push(...ofOne);
  });
  await deletePendingSignals(db, done);
  return pendingSignals.length - done.length;
}

/**
 * Tells the workflows that this process's transactions concern, as soon as they have committed.
 * Nobody waits for it; what it leaves the gateways tell.
 *
 * @param begin answers who tells the next few
 */
export function signalAtOnce(
  store: Store,
  begin: () => Tell,
  log: { info(message: string, fields?: Record<string, unknown>): void },
): { stop(): Promise<void> } {
  let waiting: PendingSignal[] = [];
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    const some = waiting;
    waiting = [];
    try {
      await sendSignals(store.db, some, begin());
    } catch (error) {
      log.info("who was told could not be noted: told again soon", { reason: reasonOf(error) });
    }
    working = waiting.length > 0 ? work() : undefined;
    await working;
  };
  const hearNoMore = store.afterCommit((pendingSignals) => {
    if (pendingSignals.length > MASS || waiting.length > WAITING_MOST) return;
    waiting.push(...pendingSignals);
    working ??= work();
  });
  return {
    stop: async () => {
      hearNoMore();
      await working;
    },
  };
}
