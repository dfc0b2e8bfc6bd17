import { expect, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import {
  type EventStart,
  markStarted,
  noteEventStart,
  openEventStarts,
  postponeEventStarts,
  pruneEventStarts,
  recordEventStarts,
  startedBy,
  stillWaiting,
} from "../../../src/store/events/event-starts.ts";
import { testStore } from "../support.ts";

const MINUTE_MS = 60_000;

function start(eventId: string, changes: Partial<EventStart> = {}): EventStart {
  return {
    businessId: "biz_1",
    playbook: "stop-changed",
    eventId,
    target: "",
    type: "contact.updated",
    objectId: "con_1",
    ...changes,
  };
}

function note(store: Store, of: EventStart, nowMs: number, together = false): Promise<void> {
  return store.transactionOf(of.businessId, (trx) => noteEventStart(trx, of, { together, nowMs }));
}

async function record(store: Store, starts: readonly EventStart[], id: string, nowMs: number) {
  await store.transactionOf("biz_1", (trx) => recordEventStarts(trx, starts, id, nowMs));
}

async function open(store: Store, nowMs: number): Promise<string[]> {
  return (await openEventStarts(store.db, nowMs, 10)).map(({ eventId }) => eventId);
}

test("an event starts a playbook once, no matter how many processes note it at the same moment", async () => {
  const { store } = await testStore();
  await Promise.all(Array.from({ length: 8 }, () => note(store, start("evt_1"), 1_000)));
  expect(await open(store, 1_000)).toEqual(["evt_1"]);
  const recorded = await Promise.all(
    Array.from({ length: 4 }, () =>
      store.transactionOf("biz_1", async (trx) => {
        const waiting = await stillWaiting(trx, [start("evt_1")]);
        if (waiting.length > 0) await recordEventStarts(trx, waiting, "workflow", 1_000);
        return waiting.length;
      }),
    ),
  );
  expect(recorded.reduce((sum, count) => sum + count, 0)).toBe(1);
  // The start is recorded but not made yet: the next process makes it.
  expect(await openEventStarts(store.db, 1_000, 10)).toMatchObject([{ workflowId: "workflow" }]);
  await markStarted(store.db, "biz_1", "workflow");
  await note(store, start("evt_1"), 9 * MINUTE_MS);
  expect(await open(store, 10 * MINUTE_MS)).toEqual([]);
  expect(await startedBy(store.db, ["workflow", "another"])).toEqual(
    new Map([["workflow", [{ eventId: "evt_1", type: "contact.updated", objectId: "con_1" }]]]),
  );
});

test("one event also starts other playbooks, targets and businesses", async () => {
  const { store } = await testStore();
  await note(store, start("evt_1"), 1_000);
  await note(store, start("evt_1", { playbook: "other" }), 1_000);
  await note(store, start("evt_1", { target: "run_1" }), 1_000);
  await note(store, start("evt_1", { businessId: "biz_2" }), 1_000);
  expect(await open(store, 1_000)).toHaveLength(4);
});

test("a start that is postponed leaves the event's other targets due", async () => {
  const { store } = await testStore();
  await note(store, start("evt_1"), 1_000);
  await note(store, start("evt_1", { target: "run_1" }), 1_000);
  await postponeEventStarts(store.db, [start("evt_1")], MINUTE_MS);
  const due = async (nowMs: number) =>
    (await openEventStarts(store.db, nowMs, 10)).map(({ target }) => target).toSorted();
  expect(await due(1_000)).toEqual(["run_1"]);
  expect(await due(MINUTE_MS)).toEqual(["", "run_1"]);
});

test("a subject that keeps changing starts a playbook less and less often, and waiting events start it together", async () => {
  const { store } = await testStore();
  await note(store, start("evt_1"), 0);
  await note(store, start("evt_2"), 10);
  expect(await open(store, 10)).toEqual(["evt_1", "evt_2"]);
  await record(store, [start("evt_1"), start("evt_2")], "first", 10);
  await markStarted(store.db, "biz_1", "first");
  for (const [index, eventId] of ["evt_3", "evt_4"].entries()) {
    await note(store, start(eventId), 1_000 + index * 30_000);
  }
  expect(await open(store, MINUTE_MS - 1)).toEqual([]);
  expect(await open(store, MINUTE_MS + 10)).toEqual(["evt_3", "evt_4"]);
  await record(store, [start("evt_3"), start("evt_4")], "second", MINUTE_MS + 10);
  await markStarted(store.db, "biz_1", "second");
  await note(store, start("evt_5"), 2 * MINUTE_MS);
  expect(await open(store, 3 * MINUTE_MS)).toEqual([]);
  expect(await open(store, 3 * MINUTE_MS + 10)).toEqual(["evt_5"]);
  // Another subject is not delayed by it.
  await note(store, start("evt_6", { objectId: "con_2" }), 2 * MINUTE_MS);
  expect(await open(store, 2 * MINUTE_MS)).toEqual(["evt_6"]);
});

test("bills that are approved in quick succession share one run a minute", async () => {
  const { store } = await testStore();
  const bill = (id: string) =>
    start(`evt_${id}`, { playbook: "pay-now", type: "payable.approved", objectId: id });
  await note(store, bill("a"), 0, true);
  await record(store, [bill("a")], "run_1", 0);
  await markStarted(store.db, "biz_1", "run_1");
  await note(store, bill("b"), 20_000, true);
  await note(store, bill("c"), 40_000, true);
  expect(await open(store, 59_000)).toEqual([]);
  expect(await open(store, MINUTE_MS)).toEqual(["evt_b", "evt_c"]);
});

test("a start that fails is tried later, and a completed one is pruned in the end", async () => {
  const { store } = await testStore();
  await note(store, start("evt_1"), 0);
  await note(store, start("evt_2", { objectId: "con_2" }), 0);
  await postponeEventStarts(store.db, [start("evt_1")], MINUTE_MS);
  expect(await open(store, 0)).toEqual(["evt_2"]);
  await record(store, [start("evt_2")], "w", 0);
  await markStarted(store.db, "biz_1", "w");
  expect(await pruneEventStarts(store.db, "biz_1", 1)).toBe(1);
  expect(await open(store, MINUTE_MS)).toEqual(["evt_1"]);
});
