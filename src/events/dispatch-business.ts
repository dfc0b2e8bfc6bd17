import { followedSinceMs } from "../domain/payments/return-window.ts";
import { mayHaveForgotten } from "../store/janitor/behind.ts";
import {
  subscribedPayablesOfContacts,
  flagLooks,
  subscribersOf,
} from "../store/payables/subscriptions.ts";
import { eachOf } from "../process/each-of.ts";
import { SIGNALS_AT_ONCE } from "../process/send-signals.ts";
import { noteEventStart } from "../store/events/event-starts.ts";
import { markDispatched, type InboxEvent } from "../store/events/inbox.ts";
import { paidHere } from "../store/payables/external-payments.ts";
import type { ActionContext } from "../actions/context.ts";
import { type Match, matchEvents } from "./match.ts";
import type { Messenger } from "./messenger.ts";
import { signalLook, signalRetry } from "../actions/temporal.ts";
import { askForAccountLook } from "../store/events/account-looks.ts";

/** Events after which a payable needs an owner even if its run is over. */
const NEEDS_OWNER: readonly string[] = ["payable.payment.failed", "payable.payment.reversed"];

export type Dispatch = Pick<
  ActionContext,
  "store" | "profiles" | "clientOf" | "temporal" | "clocks" | "log" | "metrics" | "nowMs"
>;

/**
 * Signals the owners of one business's payables about these events, each owner once, and asks for a
 * look at each bank account that they are about.
 *
 * @returns how many events stay, because a workflow could not be signaled
 */
export async function dispatchBusiness(
  context: Dispatch,
  messenger: Messenger,
  businessId: string,
  events: readonly InboxEvent[],
): Promise<number> {
  const { store } = context;
  const payables = await payablesOf(context, businessId, events);
  const all = [...new Set([...payables.values()].flat())];
  const subscribers = await subscribersOf(store.db, businessId, all);
  const ownersOf = groupBy(subscribers, (subscriber) => subscriber.payableId);
  // The flags come first: a workflow that gets the signal must find them.
  const payableIds = [...ownersOf.keys()];
  if (payableIds.length > 0) {
    await store.transactionOf(businessId, (trx) => flagLooks(trx, { businessId, payableIds }));
  }

  const undelivered = new Set<string>();
  const unowned = new Set<string>();
  const owners = [...groupBy(subscribers, (subscriber) => subscriber.owner)];
  await eachOf(owners, SIGNALS_AT_ONCE, async ([owner, subscriptions]) => {
    const outcome = await messenger.send(() => signalLook(context.temporal, owner));
    for (const { payableId } of subscriptions) {
      if (outcome === "failed") undelivered.add(payableId);
      if (outcome === "closed") unowned.add(payableId);
    }
  });

  const profile = context.profiles.byBusinessId(businessId);
  const failed = events
    .filter(({ type }) => NEEDS_OWNER.includes(type))
    .map(({ objectId }) => objectId);
  // A subscription ends some time, but the store knows forever that a bill was paid here.
  const paid = await paidHere(store.db, businessId, failed);
  const others = new Set(failed.filter((payableId) => !paid.has(payableId)));
  for (const payableId of paid) if (!ownersOf.has(payableId)) unowned.add(payableId);
  if (others.size > 0) {
    // A restored store may have forgotten that it paid them. Their owner notifies people, even if a
    // run is subscribed to the bill, because a run knows only what it has paid itself.
    const sinceMs = followedSinceMs(context.nowMs());
    const isPossible = await mayHaveForgotten(store.db, businessId, sinceMs);
    for (const payableId of isPossible ? others : []) unowned.add(payableId);
  }
  const orphans = failed.filter((payableId) => unowned.has(payableId));
  await eachOf([...new Set(orphans)], SIGNALS_AT_ONCE, async (payableId) => {
    const name = profile?.name ?? ownersOf.get(payableId)?.[0]?.business;
    if (name === undefined) return;
    const outcome = await messenger.send(async () => {
      await signalRetry(context.temporal, name, payableId);
      return true;
    });
    if (outcome === "failed") undelivered.add(payableId);
  });

  const done = events.filter(
    ({ eventId }) => !(payables.get(eventId) ?? []).some((id) => undelivered.has(id)),
  );
  const heard = new Set([...ownersOf.keys()].filter((id) => !unowned.has(id)));
  // A retry has been started for these.
  for (const payableId of orphans) heard.add(payableId);
  const matches = profile === undefined ? [] : await matchEvents(context, profile, done, heard);
  await finish(context, businessId, done, matches);
  return events.length - done.length;
}

/** Marks events as dispatched, in one transaction with what they start or ask for. */
async function finish(
  { store, nowMs }: Dispatch,
  businessId: string,
  events: readonly InboxEvent[],
  matches: readonly Match[],
): Promise<void> {
  const ids = events.map((event) => event.eventId);
  if (ids.length === 0) return;
  await store.transactionOf(businessId, async (trx) => {
    for (const { start, together } of matches) {
      await noteEventStart(trx, start, { together, nowMs: nowMs() });
    }
    const ofAccounts = events.filter(({ object }) => object === "bank_account");
    for (const accountId of new Set(ofAccounts.map(({ objectId }) => objectId))) {
      if (accountId === "") continue;
      await askForAccountLook(trx, { businessId, accountId, nowMs: Math.floor(nowMs()) });
    }
    await markDispatched(trx, businessId, ids, nowMs());
  });
}

/**
 * Returns the payables that each event is about; a contact's event is about its subscribed
 * payables.
 */
async function payablesOf(
  context: Dispatch,
  businessId: string,
  events: readonly InboxEvent[],
): Promise<Map<string, string[]>> {
  const contactIds = [
    ...new Set(events.filter((event) => event.object === "contact").map((event) => event.objectId)),
  ];
  const ofContacts = await subscribedPayablesOfContacts(context.store.db, businessId, contactIds);
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

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  return Map.groupBy(items, keyOf);
}
