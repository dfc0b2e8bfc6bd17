import { sql } from "kysely";
import { expect, test } from "vitest";
import { testStore } from "../support.ts";

const claim = (payableId: string) => ({
  business_id: "biz_1",
  payable_id: payableId,
  owner: "run",
  claimed_at_ms: 1,
});

test("a transaction that throws leaves nothing behind", async () => {
  const { store } = await testStore();
  const failing = store.transaction(async (trx) => {
    await trx.insertInto("claims").values(claim("pay_1")).execute();
    throw new Error("changed my mind");
  });
  await expect(failing).rejects.toThrow("changed my mind");
  expect(await store.db.selectFrom("claims").selectAll().execute()).toEqual([]);
});

test("the transactions of one process wait for each other and are all carried out", async () => {
  const { store } = await testStore();
  await store.db.insertInto("claims").values(claim("pay_1")).execute();
  const addOne = () =>
    store.transaction(async (trx) => {
      const row = await trx.selectFrom("claims").select("claimed_at_ms").executeTakeFirstOrThrow();
      await trx
        .updateTable("claims")
        .set({ claimed_at_ms: row.claimed_at_ms + 1 })
        .execute();
    });
  await Promise.all(Array.from({ length: 50 }, addOne));
  const row = await store.db.selectFrom("claims").select("claimed_at_ms").executeTakeFirst();
  expect(row?.claimed_at_ms).toBe(51);
});

test("using the store inside its own transaction is an error, not a deadlock", async () => {
  const { store } = await testStore();
  const inside = store.transaction(() => store.db.selectFrom("claims").selectAll().execute());
  await expect(inside).rejects.toThrow("Inside a transaction");
  const nested = store.transaction(() => store.transaction(async () => 1));
  await expect(nested).rejects.toThrow("Inside a transaction");
  // The store still works.
  expect(await store.transaction(async () => 2)).toBe(2);
});

test("an update returns the rows that it changed", async () => {
  const { store } = await testStore();
  await store.db
    .insertInto("claims")
    .values([claim("pay_1"), claim("pay_2")])
    .execute();
  const changed = await store.db
    .updateTable("claims")
    .set({ owner: "other" })
    .where("payable_id", "=", "pay_2")
    .returning(["payable_id", "owner"])
    .execute();
  expect(changed).toEqual([{ payable_id: "pay_2", owner: "other" }]);
});

test("reading a number that would be rounded is an error", async () => {
  const { store } = await testStore();
  await store.db
    .insertInto("claims")
    .values({ ...claim("pay_1"), claimed_at_ms: sql`9007199254740993` })
    .execute();
  const read = store.db.selectFrom("claims").select("claimed_at_ms").execute();
  await expect(read).rejects.toThrow(/too large|range/i);
});
