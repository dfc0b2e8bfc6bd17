import { expect, test } from "vitest";
import { listAudit } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import {
  clearWait,
  clearWaits,
  listWaits,
  type NewWait,
  setWait,
} from "../../../src/store/runs/waits.ts";
import { testStore } from "../support.ts";

const short = {
  businessId: "biz_1",
  sourceId: "balance",
  code: "insufficient_balance" as const,
  message: "Not enough money.",
};
const limited = {
  businessId: "biz_1",
  sourceId: "",
  code: "rate_limited" as const,
  message: "Too many requests.",
};

/** Real time; waits are counted on the service's clock instead. */
const realMs = 77;

const set = (store: Store, wait: Omit<NewWait, "realMs">) =>
  store.transactionOf("biz_1", (trx) => setWait(trx, { ...wait, realMs }));

const paid = (store: Store, sourceId: string) =>
  store.transactionOf("biz_1", (trx) => clearWaits(trx, { businessId: "biz_1", sourceId, realMs }));

const lifted = (store: Store) =>
  store.transactionOf("biz_1", (trx) => clearWait(trx, { ...short, realMs }));

/** Counts a try, as a lease does before it lets a single request try. */
async function triedOnce(store: Store): Promise<void> {
  await store.db
    .updateTable("business_waits")
    .set((eb) => ({ tries: eb("tries", "+", 1) }))
    .execute();
}

test("a fault of the whole source is one wait, whose pauses double up to a limit", async () => {
  const { store } = await testStore();
  const first = await set(store, { ...short, nowMs: 100 });
  expect(first).toMatchObject({ sinceMs: 100, retryAtMs: 5_100, tries: 0 });
  await triedOnce(store);
  expect(await set(store, { ...short, nowMs: 2_000 })).toMatchObject({
    sinceMs: 100,
    retryAtMs: 12_000,
    tries: 1,
  });
  for (let tries = 0; tries < 10; tries += 1) await triedOnce(store);
  expect((await set(store, { ...short, nowMs: 5_000 })).retryAtMs).toBe(605_000);
  expect(await listWaits(store.db, "biz_1")).toHaveLength(1);
});

test("if several pauses are requested at once, the longest counts", async () => {
  const { store } = await testStore();
  await set(store, { ...limited, nowMs: 0, retryAtMs: 9_000 });
  await set(store, { ...limited, nowMs: 1, retryAtMs: 4_000 });
  expect(await listWaits(store.db, "biz_1")).toMatchObject([{ retryAtMs: 9_000 }]);
  await triedOnce(store);
  await set(store, { ...limited, nowMs: 9_500, retryAtMs: 10_000 });
  expect(await listWaits(store.db, "biz_1")).toMatchObject([{ retryAtMs: 10_000, sinceMs: 0 }]);
});

test("a payment ends only waits that have been tried since they began", async () => {
  const { store } = await testStore();
  await set(store, { ...short, nowMs: 0 });
  await set(store, { ...limited, nowMs: 0 });
  await paid(store, "balance");
  expect(await listWaits(store.db, "biz_1")).toHaveLength(2);
  await triedOnce(store);
  await paid(store, "bank_2");
  expect((await listWaits(store.db, "biz_1")).map((wait) => wait.code)).toEqual([
    "insufficient_balance",
  ]);
  await paid(store, "balance");
  expect(await listWaits(store.db, "biz_1")).toEqual([]);
});

test("a wait whose cause is gone ends at once", async () => {
  const { store } = await testStore();
  await set(store, { ...short, nowMs: 0 });
  expect(await lifted(store)).toBe(true);
  expect(await lifted(store)).toBe(false);
});

test("a wait is noted in the audit trail when it begins and when it ends, and not in between", async () => {
  const { store } = await testStore();
  await set(store, { ...short, nowMs: 1 });
  await set(store, { ...short, message: "Still none, says Ada Lovelace.", nowMs: 2 });
  await set(store, { ...limited, nowMs: 3 });
  await paid(store, "balance");
  await triedOnce(store);
  await paid(store, "balance");
  await paid(store, "balance");
  const trail = await listAudit(store.db, { businessId: "biz_1" });
  const about = ({ action, subject, details, atMs }: (typeof trail)[number]) => {
    expect(atMs).toBe(realMs);
    return `${action} ${subject} ${JSON.stringify(details)}`;
  };
  expect(trail.slice(0, 2).map(about)).toEqual([
    'wait.began balance {"code":"insufficient_balance"}',
    'wait.began biz_1 {"code":"rate_limited"}',
  ]);
  expect(trail.slice(2).map(about).toSorted()).toEqual([
    'wait.ended balance {"code":"insufficient_balance","tries":1,"sinceMs":1}',
    'wait.ended biz_1 {"code":"rate_limited","tries":1,"sinceMs":3}',
  ]);
});
