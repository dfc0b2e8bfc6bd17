import { expect, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import { getRunLine } from "../../../src/store/lines/lines.ts";
import { storePlan } from "../../../src/store/plans/plan-writes.ts";
import { getRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { upsertRun } from "../../../src/store/runs/runs.ts";
import {
  flagLooks,
  moveSubscription,
  pruneSubscriptions,
  setSubscriptions,
  subscribersOf,
} from "../../../src/store/payables/subscriptions.ts";
import { newRun, planLine, planSummary } from "../fixtures.ts";
import { testStore } from "../support.ts";

const businessId = "biz_1";

async function plannedRun(store: Store, period: string): Promise<string> {
  const { run } = await upsertRun(store.db, newRun({ period }));
  const lines = [planLine("pay_1"), planLine("pay_2")];
  await store.transaction((trx) =>
    storePlan(trx, { run, plan: { summary: planSummary(lines), lines, skipped: [] }, nowMs: 1 }),
  );
  return run.runId;
}

function subscription(store: Store, owner: string, untilMs = 100) {
  const payableIds = ["pay_1", "pay_2"];
  return setSubscriptions(store.db, { businessId, business: "acme", payableIds, owner, untilMs });
}

test("a payable has one subscriber: the last that subscribed, or that it was handed to", async () => {
  const { store } = await testStore();
  await subscription(store, "run_1");
  await subscription(store, "run_2");
  expect(await moveSubscription(store.db, { businessId, payableId: "pay_2", owner: "retry" })).toBe(
    true,
  );
  expect(await moveSubscription(store.db, { businessId, payableId: "pay_9", owner: "retry" })).toBe(
    false,
  );
  const subscriptions = await subscribersOf(store.db, businessId, ["pay_1", "pay_2", "pay_9"]);
  expect(subscriptions.map((found) => [found.payableId, found.owner])).toEqual([
    ["pay_1", "run_2"],
    ["pay_2", "retry"],
  ]);
});

test("a look flags the line of the subscribed run, and the payable's retry", async () => {
  const { store } = await testStore();
  const old = await plannedRun(store, "2026-10-29");
  const current = await plannedRun(store, "2026-11-05");
  await subscription(store, current);
  const retry = { businessId, payableId: "pay_1", business: "acme", runId: old };
  await upsertRetry(store.db, { ...retry, workflowId: "retry", nowMs: 1 });
  await store.transaction((trx) => flagLooks(trx, { businessId, payableIds: ["pay_1", "pay_9"] }));
  expect((await getRunLine(store.db, current, "pay_1"))?.look).toBe(true);
  expect((await getRunLine(store.db, current, "pay_2"))?.look).toBe(false);
  expect((await getRunLine(store.db, old, "pay_1"))?.look).toBe(false);
  expect((await getRetry(store.db, businessId, "pay_1"))?.look).toBe(true);
});

test("a subscription outlives its run until its own time is over", async () => {
  const { store } = await testStore();
  await subscription(store, "run_1", 100);
  expect(await pruneSubscriptions(store.db, businessId, 100)).toBe(0);
  expect(await pruneSubscriptions(store.db, businessId, 101)).toBe(2);
  expect(await subscribersOf(store.db, businessId, ["pay_1"])).toEqual([]);
});
