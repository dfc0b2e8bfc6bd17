import type { Store } from "../store/index.ts";
import { deletePendingSignals } from "../store/signals/pending-signals.ts";
import { type PendingSignal } from "../store/sql/store.ts";
import { eachOf } from "./each-of.ts";
import { reasonOf } from "./repeat.ts";

/**
 * Signals a workflow. `closed`: no such workflow runs any more; `failed`: it is to be signaled
 * later.
 */
export type SendSignal = (workflowId: string) => Promise<"sent" | "closed" | "failed">;

/**
 * Workflows that a process signals at the same time: a mass of them must leave Temporal room for
 * others.
 */
export const SIGNALS_AT_ONCE = 2;

/**
 * A transaction with more pending signals leaves them to the gateways, which send them in their
 * turn.
 */
const MASS = 20;

/** While more than this many wait to be sent, all further ones are left to the gateways as well. */
const WAITING_MOST = 100;

/**
 * Signals each of these workflows to look, once, and deletes the signals that were sent.
 *
 * @returns how many stay, because they could not be sent
 */
export async function sendSignals(
  db: Store["db"],
  pendingSignals: readonly PendingSignal[],
  send: SendSignal,
): Promise<number> {
  const done: PendingSignal[] = [];
  const byWorkflow = Map.groupBy(pendingSignals, ({ workflowId }) => workflowId);
  await eachOf([...byWorkflow], SIGNALS_AT_ONCE, async ([workflowId, ofOne]) => {
    if ((await send(workflowId)) !== "failed") done.push(...ofOne);
  });
  await deletePendingSignals(db, done);
  return pendingSignals.length - done.length;
}

/**
 * Signals the workflows that this process's transactions concern, as soon as they have committed.
 * Nothing waits for it; the gateways send what it leaves.
 *
 * @param begin returns the function that sends the next few
 */
export function signalAtOnce(
  store: Store,
  begin: () => SendSignal,
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
      log.info("could not note which workflows were signaled: they are signaled again soon", {
        reason: reasonOf(error),
      });
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
