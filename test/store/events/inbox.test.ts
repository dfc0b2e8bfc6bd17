import { expect, test } from "vitest";
import {
  insertEvents,
  knownEventIds,
  markDispatched,
  undispatched,
  type NewInboxEvent,
} from "../../../src/store/events/inbox.ts";
import { testStore } from "../support.ts";

function event(eventId: string, changes: Partial<NewInboxEvent> = {}): NewInboxEvent {
  return {
    businessId: "biz_1",
    eventId,
    type: "payable.paid",
    sequence: "90071992547409931",
    object: "payable",
    objectId: "pay_1",
    createdAt: "2026-11-05T10:00:00Z",
    receivedAtMs: 1,
    via: "webhook",
    body: "{}",
    ...changes,
  };
}

test("the inbox stores an event once, however often it arrives, and returns the ids of new events", async () => {
  const { store } = await testStore();
  expect(await insertEvents(store.db, [event("evt_1"), event("evt_2")])).toEqual([
    "evt_1",
    "evt_2",
  ]);
  const again = [event("evt_2", { via: "deliveries" }), event("evt_3"), event("evt_3")];
  expect(await insertEvents(store.db, again)).toEqual(["evt_3"]);
  expect(await insertEvents(store.db, [event("evt_1", { businessId: "biz_2" })])).toEqual([
    "evt_1",
  ]);
  expect(await knownEventIds(store.db, "biz_1", ["evt_1", "evt_9"])).toEqual(new Set(["evt_1"]));
});

test("events that are not dispatched yet are listed, the longest waiting first, until they are marked", async () => {
  const { store } = await testStore();
  const { body, ...first } = event("evt_1", { receivedAtMs: 2 });
  expect(body).toBe("{}");
  await insertEvents(store.db, [event("evt_1", { receivedAtMs: 2 }), event("evt_2")]);
  const waiting = await undispatched(store.db, 10);
  expect(waiting.map((found) => found.eventId)).toEqual(["evt_2", "evt_1"]);
  expect(waiting[1]).toEqual(first);
  expect(await undispatched(store.db, 1)).toHaveLength(1);
  await store.transaction((trx) => markDispatched(trx, "biz_1", ["evt_2"], 3));
  expect((await undispatched(store.db, 10)).map((found) => found.eventId)).toEqual(["evt_1"]);
});
