import { expect, test } from "vitest";
import {
  activeHoldsFor,
  activeHolds,
  createHold,
  getHold,
  listHolds,
  releaseHold,
  type NewHold,
  endHolds,
  holdOnce,
} from "../../../src/store/holds/holds.ts";
import { SystemAuthor } from "../../../src/contracts/authors.ts";
import { holdSubject } from "../../../src/contracts/names.ts";
import type { Store } from "../../../src/store/index.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { testStore } from "../support.ts";

const facts = {
  businessId: "biz_1",
  payableId: "pay_1",
  contactId: "con_1",
  sourceId: "balance",
  runId: "run_1",
  playbook: "weekly",
  businessNowMs: 1_000,
};

function hold(store: Store, changes: Partial<NewHold>) {
  return store.transaction((trx) =>
    createHold(trx, {
      businessId: "biz_1",
      scope: "payable",
      value: "pay_1",
      reason: "Disputed.",
      author: "otto",
      untilMs: null,
      nowMs: 1,
      ...changes,
    }),
  );
}

function release(store: Store, holdId: string, by: string, nowMs: number) {
  return store.transaction((trx) => releaseHold(trx, holdId, by, nowMs));
}

test.each([
  ["payable", "pay_1"],
  ["contact", "con_1"],
  ["source", "balance"],
  ["run", "run_1"],
  ["playbook", "weekly"],
  ["all", ""],
] as const)("a hold on the %s stops the line", async (scope, value) => {
  const { store } = await testStore();
  const made = await hold(store, { scope, value });
  expect(await activeHoldsFor(store.db, facts)).toEqual([made]);
  expect(await activeHolds(store.db, "biz_1", 1_000)).toEqual([made]);
});

test("a hold stops nothing if it is on something else, of another business, ended or released", async () => {
  const { store } = await testStore();
  await hold(store, { value: "pay_2" });
  await hold(store, { scope: "contact", value: "pay_1" });
  await hold(store, { businessId: "biz_2", scope: "all", value: "" });
  await hold(store, { untilMs: 1_000 });
  const lifted = await hold(store, {});
  await release(store, lifted.holdId, "lena", 5);
  expect(await activeHoldsFor(store.db, facts)).toEqual([]);
  await hold(store, { untilMs: 1_001, reason: "Until later." });
  expect(await activeHoldsFor(store.db, facts)).toMatchObject([{ reason: "Until later." }]);
});

test("a hold with a scope that this version doesn't know stops every line", async () => {
  const { store } = await testStore();
  const { holdId } = await hold(store, {});
  await store.db
    .updateTable("holds")
    .set({ scope: "country", value: "CA" })
    .where("hold_id", "=", holdId)
    .execute();
  expect(await activeHoldsFor(store.db, facts)).toMatchObject([{ scope: "country" }]);
});

test("a hold is released once, and keeps a record of who released it", async () => {
  const { store } = await testStore();
  const { holdId } = await hold(store, {});
  expect(await release(store, holdId, "lena", 5)).toMatchObject({ releasedBy: "lena" });
  expect(await release(store, holdId, "otto", 6)).toBeUndefined();
  expect(await release(store, "hold_none", "otto", 6)).toBeUndefined();
  expect(await listHolds(store.db, { businessId: "biz_1", active: true, nowMs: 7 })).toEqual([]);
  expect(await listHolds(store.db, { nowMs: 7 })).toMatchObject([
    { holdId, releasedAtMs: 5, releasedBy: "lena", reason: "Disputed.", author: "otto" },
  ]);
});

test("a hold that has reached its end is noted in the trail once, and has no more effect", async () => {
  const { store } = await testStore();
  const ending = await hold(store, { untilMs: 2_000 });
  const lasting = await hold(store, { value: "pay_2" });
  const end = (businessMs: number) =>
    store.transaction((trx) => endHolds(trx, "biz_1", { businessMs, nowMs: 9 }));
  expect(await end(1_999)).toBe(0);
  expect(await end(2_000)).toBe(1);
  expect(await end(2_000)).toBe(0);
  expect(await getHold(store.db, ending.holdId)).toMatchObject({ releasedAtMs: 9 });
  expect(await getHold(store.db, lasting.holdId)).toMatchObject({ releasedAtMs: null });
  const trail = await listAudit(store.db, {
    businessId: "biz_1",
    subject: holdSubject("payable", "pay_1"),
  });
  expect(trail.map(({ action }) => action)).toEqual(["hold.created", "hold.ended"]);
  expect(trail[1]).toMatchObject({ atMs: 9, details: { until: "1970-01-01T00:00:02.000Z" } });
});

test("a hold ends by the clock of its own business, whatever other businesses' clocks say", async () => {
  const { store } = await testStore();
  const own = await hold(store, { untilMs: 2_000 });
  const other = await hold(store, { businessId: "biz_2", untilMs: 2_000 });
  const ended = await store.transaction((trx) =>
    endHolds(trx, "biz_1", { businessMs: 3_000, nowMs: 9 }),
  );
  expect(ended).toBe(1);
  expect(await getHold(store.db, own.holdId)).toMatchObject({ releasedAtMs: 9 });
  expect(await getHold(store.db, other.holdId)).toMatchObject({ releasedAtMs: null });
  expect(await activeHolds(store.db, "biz_2", 1_999)).toEqual([other]);
});

test("each of several things gets its own hold, and only an equal hold of its author in force stands for it", async () => {
  const { store } = await testStore();
  const asked: NewHold = {
    ...{ businessId: "biz_1", scope: "payable", value: "pay_1" },
    ...{ reason: "In doubt.", author: new SystemAuthor("otto"), nowMs: 1_000 },
  };
  const isAdded = async (changes: Partial<NewHold> = {}, sinceMs = 0) => {
    const count = async () => (await listHolds(store.db, { nowMs: 1_000 })).length;
    const before = await count();
    await store.transaction((trx) =>
      holdOnce(trx, { ...asked, ...changes }, { businessMs: 1_000, sinceMs }),
    );
    return (await count()) > before;
  };
  expect(await isAdded()).toBe(true);
  expect(await isAdded()).toBe(false);
  expect(await isAdded({ value: "pay_2" })).toBe(true);
  expect(await isAdded({ scope: "contact" })).toBe(true);
  expect(await isAdded({ businessId: "biz_2" })).toBe(true);
  expect(await isAdded({ author: new SystemAuthor("olga") })).toBe(true);
  // A person of the same name may release theirs.
  expect(await isAdded({ author: "otto" })).toBe(true);
  expect(await isAdded({}, 1_000)).toBe(false);
  expect(await isAdded({ nowMs: 1_001 }, 1_001)).toBe(true);
  expect(await isAdded({ value: "pay_3", untilMs: 1_000 })).toBe(true);
  expect(await isAdded({ value: "pay_3" })).toBe(true);
});
