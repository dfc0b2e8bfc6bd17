import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { databaseNowMs } from "../../../src/store/sql/database-clock.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import type { OpenStoreOptions } from "../../../src/store/sql/store.ts";
import { temporaryFolder } from "../support.ts";

const somewhere = (): string => `sqlite:${join(temporaryFolder(), "payrun.db")}`;

async function opened(options: OpenStoreOptions): Promise<Store> {
  const store = await openStore(somewhere(), options);
  onTestFinished(() => store.close());
  return store;
}

async function typeOfNow(store: Store): Promise<unknown> {
  const { rows } = await sql<{ kind: string }>`select typeof(payrun_now_ms()) as kind`.execute(
    store.db,
  );
  return rows[0]?.kind;
}

test("a store reads the clock that it was opened with each time", async () => {
  let nowMs = 5_000.75;
  const store = await opened({ nowMs: () => nowMs });
  const marked = await sql`select made_at_ms from payrun_schema`.execute(store.db);
  expect(marked.rows).toEqual([{ made_at_ms: 5_000 }]);
  nowMs = 2 ** 45 + 0.5;
  expect(await databaseNowMs(store.db)).toBe(2 ** 45);
  expect(await typeOfNow(store)).toBe("integer");
});

test("a store in its own thread uses this machine's clock", async () => {
  const store = await opened({ ownThread: true });
  const before = Date.now();
  const nowMs = await databaseNowMs(store.db);
  expect(nowMs).toBeGreaterThanOrEqual(before);
  expect(nowMs).toBeLessThanOrEqual(Date.now());
  expect(await typeOfNow(store)).toBe("integer");
});

test("a clock that the store couldn't read is refused", async () => {
  const options = { nowMs: () => 1 };
  await expect(openStore(somewhere(), { ...options, ownThread: true })).rejects.toThrow(/thread/);
  await expect(openStore("postgres://127.0.0.1:1/payrun", options)).rejects.toThrow(/of its own/);
});
