import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { markDispatched, undispatched, type InboxEvent } from "../store/inbox.ts";
import { type Lease, releaseLease, takeLease } from "../store/leases.ts";
import { reasonOf } from "../process/repeat.ts";
import { noteEventStart, openEventStarts } from "../store/event-starts.ts";
import { flagLooks, watchersOf } from "../store/watches.ts";
import type { GatewayContext } from "./context.ts";
import { type Match, matchEvents } from "./events/match.ts";
import { startByEvents } from "./events/start.ts";
import { Messenger } from "./messenger.ts";
import { signalLook, signalRetry } from "./temporal.ts";

const BATCH = 500;
const IDLE_MS = 500;
const BUSY_MS = 200;
const BACK_OFF_MAX_MS = 5_000;
/** Owners that are told at the same time. */
const CONCURRENCY = 20;

/** How long the other gateways leave the events to the one that tells of them. */
const LEAD_MS = 5_000;

/** Events after which a payable needs an owner even when its run is over. */
const NEEDS_OWNER: readonly string[] = ["payable.payment.failed", "payable.payment.reversed"];

type Dispatch = Pick<
  GatewayContext,
  "store" | "profiles" | "temporal" | "clocks" | "log" | "metrics" | "nowMs"
>;

export interface Dispatcher {
  /** Says that the inbox has something new. */
  wake(): void;
  /** Ends the loop after the tick that runs. */
  stop(): Promise<void>;
}

/**
 * Turns what is in the inbox into signals: grouped by who watches, one signal per workflow and
 * tick, an event marked only after its signals have succeeded. What fails stays and is tried
 * again, with back-off. Where nobody watches, an event starts the playbooks that name it.
 *
 * Of several gateways one does this for all, whoever received the events; where it dies, the next
 * goes on within seconds.
 */
export function startDispatcher(context: Dispatch): Dispatcher {
  const stopping = new AbortController();
  let wakeUp = new AbortController();
  let wakeable = true;
  const leader = new Leader(context);

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
      const tick = await dispatchTick(context, leader, BATCH + stuck).catch((error: unknown) => {
        context.log.warn("dispatching events failed", { reason: reasonOf(error) });
        return { seen: 0, failed: 1 };
      });
      stuck = tick.failed;
      if (tick.failed > 0) {
        backOffMs = Math.min(BACK_OFF_MAX_MS, Math.max(BUSY_MS, backOffMs * 2));
        // New events don't make a server that is down answer sooner.
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
      await leader.resign();
    },
  };
}

/** Which of the store's gateways tells of events now; asked only when there are some. */
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
    const taken = await takeLease(this.#context.store.db, this.#lease, nowMs, untilMs);
    this.#leadsUntilMs = taken ? untilMs : 0;
    return taken;
  }

  async resign(): Promise<void> {
    if (this.#leadsUntilMs === 0) return;
    await releaseLease(this.#context.store.db, this.#lease).catch(() => undefined);
  }
}

interface DispatchTick {
  readonly seen: number;
  /** Events that stay for a later tick. */
  readonly failed: number;
}

/** One pass over the oldest events of the inbox. */
async function dispatchTick(
  context: Dispatch,
  leader: Leader,
  limit: number,
): Promise<DispatchTick> {
  const events = await undispatched(context.store.db, limit);
  const hasStarts = (await openEventStarts(context.store.db, context.nowMs(), 1)).length > 0;
  if ((events.length === 0 && !hasStarts) || !(await leader.leads())) return { seen: 0, failed: 0 };
  const messenger = new Messenger(context);
  let failed = 0;
  for (const [businessId, ofBusiness] of groupBy(events, (event) => event.businessId)) {
    failed += await dispatchBusiness(context, messenger, businessId, ofBusiness);
  }
  const starts = await startByEvents(context, messenger);
  return { seen: events.length + starts.seen, failed: failed + starts.failed };
}

async function dispatchBusiness(
  context: Dispatch,
  messenger: Messenger,
  businessId: string,
  events: readonly InboxEvent[],
): Promise<number> {
  const { db } = context.store;
  const payables = await payablesOf(context, businessId, events);
  const all = [...new Set([...payables.values()].flat())];
  const watchers = await watchersOf(db, businessId, all);
  const ownersOf = groupBy(watchers, (watcher) => watcher.payableId);
  // Flags first: a workflow that hears the signal must find them.
  await flagLooks(db, { businessId, payableIds: [...ownersOf.keys()] });

  const undelivered = new Set<string>();
  const unowned = new Set<string>();
  await eachOf([...groupBy(watchers, (watcher) => watcher.owner)], async ([owner, watches]) => {
    const outcome = await messenger.tell(() => signalLook(context.temporal, owner));
    for (const { payableId } of watches) {
      if (outcome === "failed") undelivered.add(payableId);
      if (outcome === "closed") unowned.add(payableId);
    }
  });

  const profile = context.profiles.byBusinessId(businessId);
  const orphans = events
    .filter(({ type, objectId }) => NEEDS_OWNER.includes(type) && unowned.has(objectId))
    .map((event) => event.objectId);
  await eachOf([...new Set(orphans)], async (payableId) => {
    const name = profile?.name ?? ownersOf.get(payableId)?.[0]?.business;
    if (name === undefined) return;
    const outcome = await messenger.tell(async () => {
      await signalRetry(context.temporal, name, payableId);
      return true;
    });
    if (outcome === "failed") undelivered.add(payableId);
  });

  const done = events.filter(
    (event) => !(payables.get(event.eventId) ?? []).some((id) => undelivered.has(id)),
  );
  const heard = new Set([...ownersOf.keys()].filter((id) => !unowned.has(id)));
  // A retry has been started for these.
  for (const payableId of orphans) heard.add(payableId);
  const matches = profile === undefined ? [] : await matchEvents(context, profile, done, heard);
  await finish(context, businessId, done, matches);
  return events.length - done.length;
}

/** Marks events as dispatched, in one transaction with what they start. */
async function finish(
  { store, nowMs }: Dispatch,
  businessId: string,
  events: readonly InboxEvent[],
  matches: readonly Match[],
): Promise<void> {
  const ids = events.map((event) => event.eventId);
  if (matches.length === 0) return markDispatched(store.db, businessId, ids, nowMs());
  await store.transactionOf(businessId, async (trx) => {
    for (const { start, together } of matches) {
      await noteEventStart(trx, start, { together, nowMs: nowMs() });
    }
    await markDispatched(trx, businessId, ids, nowMs());
  });
}

/** Payables that each event is about; a contact's event is about its watched lines. */
async function payablesOf(
  context: Dispatch,
  businessId: string,
  events: readonly InboxEvent[],
): Promise<Map<string, string[]>> {
  const contactIds = [
    ...new Set(events.filter((event) => event.object === "contact").map((event) => event.objectId)),
  ];
  const ofContacts = await watchedPayablesOfContacts(context, businessId, contactIds);
  return new Map(
    events.map((event) => [
      event.eventId,
      event.object === "payable"
        ? [event.objectId]
        : event.object === "contact"
          ? (ofContacts.get(event.objectId) ?? [])
          : [],
    ]),
  );
}

async function watchedPayablesOfContacts(
  context: Dispatch,
  businessId: string,
  contactIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (contactIds.length === 0) return new Map();
  const rows = await context.store.db
    .selectFrom("watches")
    .innerJoin("run_lines", (join) =>
      join
        .onRef("run_lines.business_id", "=", "watches.business_id")
        .onRef("run_lines.payable_id", "=", "watches.payable_id"),
    )
    .select(["run_lines.contact_id", "watches.payable_id"])
    .distinct()
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.contact_id", "in", contactIds)
    .execute();
  const found = new Map<string, string[]>();
  for (const [contactId, of] of groupBy(rows, (row) => row.contact_id)) {
    found.set(
      contactId,
      of.map((row) => row.payable_id),
    );
  }
  return found;
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const lane = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, queue.length) }, lane));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  return Map.groupBy(items, keyOf);
}
