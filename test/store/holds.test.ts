import { expect, test } from "vitest";
import {
  activeHoldFor,
  activeHolds,
  createHold,
  listHolds,
  releaseHold,
  type NewHold,
} from "../../src/store/holds.ts";
import type { Store } from "../../src/store/index.ts";
import { testStore } from "./support.ts";

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
  return createHold(store.db, {
    businessId: "biz_1",
    scope: "payable",
    value: "pay_1",
    reason: "Disputed.",
    author: "otto",
    untilMs: null,
    nowMs: 1,
    ...changes,
  });
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
  expect(await activeHoldFor(store.db, facts)).toEqual(made);
  expect(await activeHolds(store.db, "biz_1", 1_000)).toEqual([made]);
});

test("holds on something else, of another business, ended or lifted stop nothing", async () => {
  const { store } = await testStore();
  await hold(store, { value: "pay_2" });
  await hold(store, { scope: "contact", value: "pay_1" });
  await hold(store, { businessId: "biz_2", scope: "all", value: "" });
  await hold(store, { untilMs: 1_000 });
  const lifted = await hold(store, {});
  await releaseHold(store.db, lifted.holdId, "lena", 5);
  expect(await activeHoldFor(store.db, facts)).toBeUndefined();
  await hold(store, { untilMs: 1_001, reason: "Until later." });
  expect(await activeHoldFor(store.db, facts)).toMatchObject({ reason: "Until later." });
});

test("a hold whose scope this version doesn't know stops every line", async () => {
  const { store } = await testStore();
  const { holdId } = await hold(store, {});
  await store.db
    .updateTable("holds")
    .set({ scope: "country", value: "CA" })
    .where("hold_id", "=", holdId)
    .execute();
  expect(await activeHoldFor(store.db, facts)).toMatchObject({ scope: "country" });
});

test("a hold is lifted once, and stays on record with who did it", async () => {
  const { store } = await testStore();
  const { holdId } = await hold(store, {});
  expect(await releaseHold(store.db, holdId, "lena", 5)).toMatchObject({ releasedBy: "lena" });
  expect(await releaseHold(store.db, holdId, "otto", 6)).toBeUndefined();
  expect(await releaseHold(store.db, "hold_none", "otto", 6)).toBeUndefined();
  expect(await listHolds(store.db, { businessId: "biz_1", active: true, nowMs: 7 })).toEqual([]);
  expect(await listHolds(store.db, { nowMs: 7 })).toMatchObject([
    { holdId, releasedAtMs: 5, releasedBy: "lena", reason: "Disputed.", author: "otto" },
  ]);
});
