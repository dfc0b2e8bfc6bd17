import { expect, test } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { clearWait, clearWaits, listWaits, setWait } from "../../src/store/waits.ts";
import { testStore } from "./support.ts";

const short = {
  businessId: "biz_1",
  sourceId: "balance",
  code: "insufficient_balance",
  message: "Not enough money.",
};
const limited = {
  businessId: "biz_1",
  sourceId: "",
  code: "rate_limited",
  message: "Too many requests.",
};

/** What a draw does before it lets a single request try. */
async function triedOnce(store: Store): Promise<void> {
  await store.db
    .updateTable("business_waits")
    .set((eb) => ({ tries: eb("tries", "+", 1) }))
    .execute();
}

test("a fault of everybody is one wait, whose pauses double up to their limit", async () => {
  const { store } = await testStore();
  const first = await setWait(store.db, { ...short, nowMs: 100 });
  expect(first).toMatchObject({ sinceMs: 100, retryAtMs: 5_100, tries: 0 });
  await triedOnce(store);
  expect(await setWait(store.db, { ...short, nowMs: 2_000 })).toMatchObject({
    sinceMs: 100,
    retryAtMs: 12_000,
    tries: 1,
  });
  for (let tries = 0; tries < 10; tries += 1) await triedOnce(store);
  expect((await setWait(store.db, { ...short, nowMs: 5_000 })).retryAtMs).toBe(605_000);
  expect(await listWaits(store.db, "biz_1")).toHaveLength(1);
});

test("of several pauses asked for at once the longest holds", async () => {
  const { store } = await testStore();
  await setWait(store.db, { ...limited, nowMs: 0, retryAtMs: 9_000 });
  await setWait(store.db, { ...limited, nowMs: 1, retryAtMs: 4_000 });
  expect(await listWaits(store.db, "biz_1")).toMatchObject([{ retryAtMs: 9_000 }]);
  await triedOnce(store);
  await setWait(store.db, { ...limited, nowMs: 9_500, retryAtMs: 10_000 });
  expect(await listWaits(store.db, "biz_1")).toMatchObject([{ retryAtMs: 10_000, sinceMs: 0 }]);
});

test("a payment ends only waits that have been tried since they began", async () => {
  const { store } = await testStore();
  await setWait(store.db, { ...short, nowMs: 0 });
  await setWait(store.db, { ...limited, nowMs: 0 });
  await clearWaits(store.db, { businessId: "biz_1", sourceId: "balance" });
  expect(await listWaits(store.db, "biz_1")).toHaveLength(2);
  await triedOnce(store);
  await clearWaits(store.db, { businessId: "biz_1", sourceId: "bank_2" });
  expect((await listWaits(store.db, "biz_1")).map((wait) => wait.code)).toEqual([
    "insufficient_balance",
  ]);
  await clearWaits(store.db, { businessId: "biz_1", sourceId: "balance" });
  expect(await listWaits(store.db, "biz_1")).toEqual([]);
});

test("a wait whose cause is lifted ends at once", async () => {
  const { store } = await testStore();
  await setWait(store.db, { ...short, nowMs: 0 });
  expect(await clearWait(store.db, short)).toBe(true);
  expect(await clearWait(store.db, short)).toBe(false);
});
