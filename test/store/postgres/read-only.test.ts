import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { listAudit } from "../../../src/store/audit/audit.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { makePool } from "../../../src/store/postgres/pool.ts";
import { takeLease } from "../../../src/store/sql/leases.ts";
import { howItTakesWrites } from "../../../src/store/sql/small-write.ts";
import { newDatabase } from "../../support/postgres.ts";
import { FailingOver, note } from "../../support/postgres-failover.ts";

async function opened(options: { busyLimitMs?: number } = {}) {
  const server = new FailingOver(await newDatabase("store"));
  const store = await openStore(server.url, { poolSize: 4, ...options });
  onTestFinished(() => store.close());
  return { server, store };
}

/** Opens every session that the pool may have. */
const fill = (store: Store) =>
  Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.1)`.execute(store.db)));

const written = async (store: Store) =>
  (await listAudit(store.db, { businessId: "biz_1" })).map(({ details }) => details["n"]);

test("once a server can be written again, the first write succeeds, whatever sessions were opened before", async () => {
  const { server, store } = await opened();
  await note(store, 1);
  await server.failOver();
  await fill(store);
  expect(await howItTakesWrites(store)).toBe("read_only");
  expect(await written(store)).toEqual([1]);
  await fill(store);
  await server.recover();
  // It tries once: the other three sessions are read-only, too, and must not be used.
  expect(await howItTakesWrites(store)).toBe("read_only");
  expect(await howItTakesWrites(store)).toBe("ok");
  await note(store, 2);
  expect(await written(store)).toEqual([1, 2]);
});

test("writes that meet a read-only server are carried out once each after its recovery", async () => {
  const { server, store } = await opened();
  await fill(store);
  await server.failOver();
  await fill(store);
  const writes = Promise.all([
    ...Array.from({ length: 6 }, (_, n) => note(store, n)),
    ...Array.from({ length: 6 }, (_, n) =>
      takeLease(store.db, { name: `lease ${n}`, holder: "test" }, 60_000),
    ),
  ]);
  await expect.poll(() => howItTakesWrites(store)).toBe("read_only");
  await server.recover();
  await writes;
  const numbers = await written(store);
  expect(numbers).toHaveLength(6);
  expect(new Set(numbers)).toEqual(new Set([0, 1, 2, 3, 4, 5]));
});

test("a write gives up after its limit if the server stays read-only, and says so", async () => {
  const { server, store } = await opened({ busyLimitMs: 300 });
  await server.failOver();
  for (const write of [
    () => note(store, 1),
    () => takeLease(store.db, { name: "a", holder: "b" }, 1),
  ]) {
    await expect(write()).rejects.toMatchObject({
      name: "StoreError",
      code: "read_only",
      message: expect.stringMatching(/takes no writes.*Nothing was written/),
    });
  }
  await server.recover();
});

test("a transaction that becomes read-only while it runs is carried out once, from its start", async () => {
  const { store } = await opened();
  let runs = 0;
  await store.transaction(async (trx) => {
    runs += 1;
    if (runs === 1) await sql`set transaction read only`.execute(trx);
    await takeLease(trx, { name: `run ${runs}`, holder: "test" }, 60_000);
  });
  const rows = await store.db.selectFrom("leases").select("name").execute();
  expect(rows).toEqual([{ name: "run 2" }]);
});

test("no connection outlives five minutes", async () => {
  const pool = makePool("postgres://nobody@127.0.0.1:1/none", { max: 1, answerMs: 1_000 });
  expect(pool.options.maxLifetimeSeconds).toBe(300);
  await pool.end();
});
