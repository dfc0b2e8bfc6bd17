import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { databaseNowMs } from "../../../src/store/sql/database-clock.ts";
import { testStore } from "../support.ts";

test("the database's clock returns whole milliseconds since 1970", async () => {
  const { store } = await testStore();
  const nowMs = await databaseNowMs(store.db);
  expect(Number.isSafeInteger(nowMs)).toBe(true);
  expect(new Date(nowMs).getUTCFullYear()).toBeGreaterThan(2024);
});

test("the database's clock advances within a transaction", async () => {
  const { store } = await testStore();
  const movedMs = await store.transaction(async (trx) => {
    const beganMs = await databaseNowMs(trx);
    await sleep(50);
    return (await databaseNowMs(trx)) - beganMs;
  });
  expect(movedMs).toBeGreaterThan(20);
});

test("a write stores the instant of the database's clock", async () => {
  const { store } = await testStore();
  const before = await databaseNowMs(store.db);
  await sql`insert into claims values ('biz_1', 'pay_1', 'run', payrun_now_ms())`.execute(store.db);
  const claim = await store.db.selectFrom("claims").selectAll().executeTakeFirstOrThrow();
  expect(claim.claimed_at_ms).toBeGreaterThanOrEqual(before);
  expect(claim.claimed_at_ms).toBeLessThanOrEqual(await databaseNowMs(store.db));
});
