import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { child, temporaryFolder } from "../support.ts";

async function threaded(): Promise<{ store: Store; path: string }> {
  const path = join(temporaryFolder(), "payrun.db");
  const store = await openStore(`sqlite:${path}`, { ownThread: true, busyLimitMs: 300 });
  onTestFinished(() => store.close());
  return { store, path };
}

const claim = { business_id: "b", payable_id: "p", owner: "o", claimed_at_ms: 2 ** 50 };

test("a store in its own thread keeps a transaction's writes, and none of one that failed", async () => {
  const { store } = await threaded();
  await store.transaction((trx) => trx.insertInto("claims").values(claim).execute());
  const failing = store.transaction(async (trx) => {
    await trx.updateTable("claims").set({ owner: "other" }).execute();
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await store.db.selectFrom("claims").selectAll().execute()).toEqual([claim]);
  const changed = await store.db.updateTable("claims").set({ owner: "x" }).executeTakeFirst();
  expect(changed.numUpdatedRows).toBe(1n);
});

test("a statement that the thread refuses fails alone, with the reason", async () => {
  const { store } = await threaded();
  await store.db.insertInto("claims").values(claim).execute();
  await expect(store.db.insertInto("claims").values(claim).execute()).rejects.toThrow(/UNIQUE/);
  await expect(sql`select from nowhere`.execute(store.db)).rejects.toThrow(/syntax/);
  expect(await store.db.selectFrom("claims").select("owner").execute()).toEqual([{ owner: "o" }]);
});

test("another process's lock is waited for and then reported, as without a thread", async () => {
  const { store, path } = await threaded();
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  await expect(store.transaction(() => Promise.resolve())).rejects.toMatchObject({
    code: "locked",
  });
  other.exec("rollback");
  other.close();
  expect(await store.transaction(() => Promise.resolve("done"))).toBe("done");
});

test("other work goes on while a statement runs", async () => {
  const { store } = await threaded();
  let answered = false;
  const counted = sql<{ n: number }>`
    with recursive c (n) as (select 1 union all select n + 1 from c where n < 300000)
    select max(n) as n from c`
    .execute(store.db)
    .then(({ rows }) => {
      answered = true;
      return rows;
    });
  let turns = 0;
  while (!answered) {
    turns += 1;
    await setImmediate();
  }
  expect(await counted).toEqual([{ n: 300_000 }]);
  expect(turns).toBeGreaterThan(5);
});

test("a query after the thread has ended fails", async () => {
  const { store } = await threaded();
  await store.close();
  await expect(store.db.selectFrom("claims").select("owner").execute()).rejects.toThrow(
    "destroyed",
  );
});

test("a process exits by itself once it waits for nothing from its store", async () => {
  const url = `sqlite:${join(temporaryFolder(), "payrun.db")}`;
  expect(await child("in-thread", [url])).toEqual({ claims: 0 });
});
