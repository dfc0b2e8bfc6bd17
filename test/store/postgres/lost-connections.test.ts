import { expect, onTestFinished, test } from "vitest";
import { sql } from "kysely";
import { appendAudit, listAudit } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { newDatabase } from "../../support/postgres.ts";
import { TcpProxy } from "./tcp-proxy.ts";

async function storeBehindProxy(): Promise<{ store: Store; proxy: TcpProxy }> {
  const url = await newDatabase("store");
  const proxy = await TcpProxy.before(url);
  onTestFinished(() => proxy.close());
  const store = await openStore(proxy.urlOf(url), { poolSize: 4 });
  onTestFinished(() => store.close());
  return { store, proxy };
}

const note = (store: Store, n: number) =>
  store.transactionOf("biz_1", async (trx) => {
    await appendAudit(trx, {
      businessId: "biz_1",
      nowMs: n,
      actor: "test",
      action: "counted",
      subject: "pay_1",
      details: { n },
    });
    return `noted ${n}`;
  });

const written = async (store: Store) =>
  (await listAudit(store.db, { businessId: "biz_1" })).map(({ details }) => details["n"]);

test("a transaction whose COMMIT succeeded but whose response was lost happens once", async () => {
  const { store, proxy } = await storeBehindProxy();
  await note(store, 1);
  proxy.loseAnswerOf("commit");
  expect(await note(store, 2)).toBe("noted 2");
  expect(proxy.cuts).toBe(1);
  expect(await written(store)).toEqual([1, 2]);
});

test("a transaction that was cut off before its COMMIT runs again", async () => {
  const { store, proxy } = await storeBehindProxy();
  let runs = 0;
  await store.transaction(async (trx) => {
    runs += 1;
    await trx
      .insertInto("claims")
      .values({ business_id: "b", payable_id: "p", owner: "o", claimed_at_ms: runs })
      .execute();
    if (runs === 1) proxy.cutAll();
    await trx.selectFrom("claims").selectAll().execute();
  });
  expect(runs).toBe(2);
  const rows = await store.db.selectFrom("claims").select("claimed_at_ms").execute();
  expect(rows).toEqual([{ claimed_at_ms: 2 }]);
});

test("a connection that the server ends while it is idle causes no failure", async () => {
  const { store, proxy } = await storeBehindProxy();
  await note(store, 1);
  proxy.cutAll();
  expect(await written(store)).toEqual([1]);
});

test("single statements are sent again over a new connection", async () => {
  const { store, proxy } = await storeBehindProxy();
  const reading = Promise.all(
    Array.from({ length: 8 }, () => sql`select pg_sleep(0.2)`.execute(store.db)),
  );
  proxy.cutAll();
  await expect(reading).resolves.toHaveLength(8);
});

test("two transactions that deadlock are both carried out", async () => {
  const url = await newDatabase("store");
  const stores = [await openStore(url), await openStore(url)] as const;
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  const row = (payableId: string) => ({
    business_id: "b",
    payable_id: payableId,
    owner: "0",
    claimed_at_ms: 0,
  });
  await stores[0].db
    .insertInto("claims")
    .values([row("p"), row("q")])
    .execute();
  // Transactions of two businesses, which share no lock of ours, on rows that they shouldn't share.
  const touch = (store: Store, business: string, order: readonly string[]) =>
    store.transactionOf(business, async (trx) => {
      for (const payableId of order) {
        await trx
          .updateTable("claims")
          .set((eb) => ({ claimed_at_ms: eb("claimed_at_ms", "+", 1) }))
          .where("payable_id", "=", payableId)
          .execute();
        await sql`select pg_sleep(0.1)`.execute(trx);
      }
    });
  await Promise.all([touch(stores[0], "biz_1", ["p", "q"]), touch(stores[1], "biz_2", ["q", "p"])]);
  const rows = await stores[0].db.selectFrom("claims").select("claimed_at_ms").execute();
  expect(rows.map((each) => each.claimed_at_ms)).toEqual([2, 2]);
});

test("a store is made once, though the connection is lost while it is being made", async () => {
  const url = await newDatabase("empty");
  const proxy = await TcpProxy.before(url);
  onTestFinished(() => proxy.close());
  proxy.loseAnswerOf("commit");
  const store = await openStore(proxy.urlOf(url), { poolSize: 2 });
  onTestFinished(() => store.close());
  expect(proxy.cuts).toBe(1);
  await note(store, 1);
  expect(await written(store)).toEqual([1]);
});
