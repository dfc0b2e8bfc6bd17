import { expect, onTestFinished, test } from "vitest";
import { groupOf } from "../../../activities/pay/group-commit.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { temporaryFolder } from "../../store/support.ts";

const claim = (payableId: string) => ({
  business_id: "b",
  payable_id: payableId,
  owner: "o",
  claimed_at_ms: 1,
});

/** Opens a store that counts its transactions. */
async function countingStore(): Promise<{ store: Store; count: () => number }> {
  const store = await openStore(`sqlite:${temporaryFolder()}/payrun.db`);
  onTestFinished(() => store.close());
  let transactions = 0;
  const counting: Store = {
    ...store,
    transactionOf: (...args) => {
      transactions += 1;
      return store.transactionOf(...args);
    },
  };
  return { store: counting, count: () => transactions };
}

async function claimed(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom("claims")
    .select("payable_id")
    .orderBy("payable_id")
    .execute();
  return rows.map((row) => row.payable_id);
}

test("simultaneous requests of lanes share one transaction, and each gets its own answer", async () => {
  const { store, count } = await countingStore();
  const group = groupOf(store, "b");
  const answers = await Promise.all(
    ["p1", "p2", "p3"].map((id) =>
      group.transaction(async (trx) => {
        await trx.insertInto("claims").values(claim(id)).execute();
        return `done ${id}`;
      }),
    ),
  );
  expect(answers).toEqual(["done p1", "done p2", "done p3"]);
  expect(await claimed(store)).toEqual(["p1", "p2", "p3"]);
  expect(count()).toBe(1);
});

test("a request that fails keeps nothing, and the others of its transaction are kept", async () => {
  const { store } = await countingStore();
  const group = groupOf(store, "b");
  const ends = await Promise.allSettled(
    ["p1", "bad", "p3"].map((id) =>
      group.transaction(async (trx) => {
        await trx.insertInto("claims").values(claim(id)).execute();
        if (id === "bad") throw new Error("not this one");
        return id;
      }),
    ),
  );
  expect(ends).toMatchObject([
    { status: "fulfilled", value: "p1" },
    { status: "rejected", reason: new Error("not this one") },
    { status: "fulfilled", value: "p3" },
  ]);
  expect(await claimed(store)).toEqual(["p1", "p3"]);
});

test("requests that arrive during a transaction go into the next one", async () => {
  const { store, count } = await countingStore();
  const group = groupOf(store, "b");
  const later: Promise<string>[] = [];
  await group.transaction(async () => {
    later.push(...["p1", "p2"].map((id) => group.transaction(() => Promise.resolve(id))));
  });
  expect(await Promise.all(later)).toEqual(["p1", "p2"]);
  expect(count()).toBe(2);
});

test("lanes share a group only within one business and one store", async () => {
  const { store } = await countingStore();
  const { store: other } = await countingStore();
  expect(groupOf(store, "b")).toBe(groupOf(store, "b"));
  expect(groupOf(store, "b")).not.toBe(groupOf(store, "c"));
  expect(groupOf(store, "b")).not.toBe(groupOf(other, "b"));
});
