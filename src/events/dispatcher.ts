import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LastingTrouble } from "../process/lasting-trouble.ts";
import { OneEach } from "../process/one-each.ts";
import { reasonOf } from "../process/repeat.ts";
import { type SendSignal, signalAtOnce, sendSignals } from "../process/send-signals.ts";
import { dueAccountLooks } from "../store/events/account-looks.ts";
import { openEventStarts } from "../store/events/event-starts.ts";
import { undispatched } from "../store/events/inbox.ts";
import { type Lease, releaseLease, takeLease } from "../store/sql/leases.ts";
import { oldestPendingSignals } from "../store/signals/pending-signals.ts";
import { type PendingSignal } from "../store/sql/store.ts";
import { type Dispatch, dispatchBusiness, groupBy } from "./dispatch-business.ts";
import { lookAtAccounts } from "./look-at-accounts.ts";
import { startByEvents } from "./start.ts";
import { Messenger } from "./messenger.ts";
import { signalLook } from "../actions/temporal.ts";

const BATCH = 500;
const IDLE_MS = 500;
const BUSY_MS = 200;
const BACK_OFF_MAX_MS = 5_000;
/** How long the other gateways leave the events to the one that dispatches them. */
const LEAD_MS = 5_000;

/** After this time, the process that wrote a pending signal has not sent it and won't any more. */
const OVERDUE_MS = 2_000;

/** A business whose rows stay locked for longer than this doesn't hold up the events of others. */
const SLOW_MS = 1_000;

export interface Dispatcher {
  /** Announces that the inbox has something new. */
  wake(): void;
  /** Ends the loop after the current tick. */
  stop(): Promise<void>;
}

/**
 * Turns the events of the inbox into signals: one signal per workflow and tick, and an event is
 * marked only after its signals have succeeded. What fails stays and is tried again, with back-off.
 * An event about a bank account asks for a look at it. An event also starts the playbooks that name it; a playbook that pays or retries, only if no
 * workflow has its payable already.
 *
 * Of several gateways one does this for all, whichever received the events; if it dies, the next
 * one goes on within seconds. It also sends the pending signals that a process has left behind:
 * each process sends those of its own transactions at once, and so does this one.
 */
export function startDispatcher(context: Dispatch): Dispatcher {
  const stopping = new AbortController();
  let wakeUp = new AbortController();
  let wakeable = true;
  const leader = new Leader(context);
  const busy = new OneEach();
  const signaling = signalAtOnce(context.store, () => signalThrough(context), context.log);
  const trouble = new LastingTrouble(context);

  const pause = async (ms: number): Promise<void> => {
    wakeUp = new AbortController();
    const signal = AbortSignal.any([stopping.signal, wakeUp.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  };

  const loop = async (): Promise<void> => {
    let backOffMs = 0;
    let stuck = 0;
    while (!stopping.signal.aborted) {
      // Events that can't be delivered must not fill the batch for those behind them.
      const tick = await dispatchTick(context, { leader, busy, trouble }, BATCH + stuck).catch(
        (error: unknown) => {
          context.log.warn("dispatching events failed", { reason: reasonOf(error) });
          return { seen: 0, failed: 1 };
        },
      );
      stuck = tick.failed;
      if (tick.failed > 0) {
        backOffMs = Math.min(BACK_OFF_MAX_MS, Math.max(BUSY_MS, backOffMs * 2));
        // New events don't make a server that is down respond sooner.
        wakeable = false;
        await pause(backOffMs);
        wakeable = true;
      } else {
        backOffMs = 0;
        await pause(tick.seen > 0 ? BUSY_MS : IDLE_MS);
      }
    }
  };
  const running = loop();

  return {
    wake: () => {
      if (wakeable) wakeUp.abort();
    },
    stop: async () => {
      stopping.abort();
      await running;
      await signaling.stop();
      await busy.ended();
      await leader.resign();
    },
  };
}

/**
 * Decides which of the store's gateways dispatches now; checked only if there is something to do.
 */
class Leader {
  readonly #context: Dispatch;
  readonly #lease: Lease = { name: "dispatcher", holder: randomUUID() };
  #leadsUntilMs = 0;

  constructor(context: Dispatch) {
    this.#context = context;
  }

  async leads(): Promise<boolean> {
    const nowMs = Date.now();
    if (this.#leadsUntilMs - nowMs > LEAD_MS / 2) return true;
    const untilMs = nowMs + LEAD_MS;
    const taken = await takeLease(this.#context.store.db, this.#lease, LEAD_MS);
    this.#leadsUntilMs = taken ? untilMs : 0;
    return taken;
  }

  async resign(): Promise<void> {
    if (this.#leadsUntilMs === 0) return;
    await releaseLease(this.#context.store.db, this.#lease).catch(() => undefined);
  }
}

/** How much there was to dispatch, and how much of it stays for a later tick. */
interface DispatchTick {
  readonly seen: number;
  readonly failed: number;
}

const SIGNALS = "Signalling workflows about the service's events";
const STARTS = "starts by events";
const PENDING_SIGNALS = "pending_signals";

function signalThrough(context: Dispatch, messenger = new Messenger(context)): SendSignal {
  return (workflowId) => messenger.send(() => signalLook(context.temporal, workflowId));
}

async function signalOverdue(
  { store }: Dispatch,
  overdue: readonly PendingSignal[],
  send: SendSignal,
): Promise<DispatchTick> {
  return { seen: overdue.length, failed: await sendSignals(store.db, overdue, send) };
}

/** Makes one pass over the oldest events of the inbox, and over the oldest pending signals. */
async function dispatchTick(
  context: Dispatch,
  {
    leader,
    busy,
    trouble,
  }: { readonly leader: Leader; readonly busy: OneEach; readonly trouble: LastingTrouble },
  limit: number,
): Promise<DispatchTick> {
  const { db } = context.store;
  const events = await undispatched(db, limit, busy.keys);
  const hasStarts = (await openEventStarts(db, context.nowMs(), 1)).length > 0;
  const pending = await oldestPendingSignals(db, limit);
  const overdue = pending.filter(({ ageMs }) => ageMs >= OVERDUE_MS);
  const looks = await dueAccountLooks(db, context.nowMs(), limit);
  const isIdle = events.length === 0 && !hasStarts && overdue.length === 0 && looks.length === 0;
  // A signal that isn't overdue yet is looked at again soon.
  if (isIdle || !(await leader.leads())) return { seen: pending.length, failed: 0 };
  const messenger = new Messenger(context);
  const begin = (key: string, work: () => Promise<DispatchTick>): Promise<DispatchTick> =>
    busy.begin(key, work, SLOW_MS).then((tick) => tick ?? { seen: 0, failed: 0 });
  const ticks = [...groupBy(events, (event) => event.businessId)].map(([businessId, some]) =>
    begin(businessId, async () => {
      const seen = some.length;
      const failed = await trouble.watch({ businessId, step: SIGNALS }, () =>
        dispatchBusiness(context, messenger, businessId, some),
      );
      return { seen, failed: failed ?? seen };
    }),
  );
  const reading = [...groupBy(looks, (look) => look.businessId)].map(([businessId, some]) =>
    begin(`accounts of ${businessId}`, async () => {
      await lookAtAccounts(context, trouble, businessId, some);
      return { seen: some.length, failed: 0 };
    }),
  );
  const done = await Promise.all([...ticks, ...reading]);
  done.push(await begin(STARTS, () => startByEvents(context, messenger, trouble)));
  const send = signalThrough(context, messenger);
  done.push(await begin(PENDING_SIGNALS, () => signalOverdue(context, overdue, send)));
  return {
    seen: done.reduce((sum, { seen }) => sum + seen, 0),
    failed: done.reduce((sum, { failed }) => sum + failed, 0),
  };
}
