import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { storeCheck } from "../../../src/cli/commands/doctor-store.ts";
import { loadConfig } from "../../../src/config.ts";
import type { Db } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { limitsOff } from "../../../src/store/postgres/limits.ts";
import { newDatabase } from "../../support/postgres.ts";
import { TcpProxy } from "./tcp-proxy.ts";

const limits = async (db: Db) =>
  (
    await sql<{ name: string; setting: string; source: string }>`
      select name, setting, source from pg_settings
      where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
      order by name`.execute(db)
  ).rows;

test("every transaction and every single statement sets its limits itself", async () => {
  const store = await openStore(await newDatabase("store"), { busyLimitMs: 40_000 });
  onTestFinished(() => store.close());
  // A startup parameter's source would be “client”.
  const expected = [
    { name: "idle_in_transaction_session_timeout", setting: "10000", source: "session" },
    { name: "lock_timeout", setting: "40000", source: "session" },
    { name: "statement_timeout", setting: "80000", source: "session" },
  ];
  expect(await limits(store.db)).toEqual(expected);
  expect(await store.transaction(limits)).toEqual(expected);
  expect(await store.transactionOf("biz_1", limits)).toEqual(expected);
  expect(await limitsOff(store.db)).toEqual([]);
});

test("limits that something on the way drops are noticed, and doctor names them", async () => {
  const url = await newDatabase("store");
  const proxy = await TcpProxy.before(url);
  onTestFinished(() => proxy.close());
  proxy.blank(/set local (statement|lock)_timeout = \d+/g);
  const store = await openStore(proxy.urlOf(url));
  onTestFinished(() => store.close());
  expect(await limitsOff(store.db)).toEqual(["statement_timeout", "lock_timeout"]);
  const checked = (address: string) =>
    storeCheck(loadConfig({ PAYRUN_DATABASE_URL: address, PAYRUN_ALLOW_PLAINTEXT: "postgres" }));
  expect(await checked(proxy.urlOf(url))).toMatchObject({
    state: "warning",
    text: expect.stringMatching(/these limits don't hold: statement_timeout, lock_timeout$/),
    remedy: expect.stringContaining("pooler"),
  });
  expect((await checked(url)).text).not.toContain("don't hold");
});

test("a single statement that fails leaves nothing, and its session can be used again", async () => {
  const store = await openStore(await newDatabase("store"), { poolSize: 1 });
  onTestFinished(() => store.close());
  const pid = async () =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(store.db)).rows[0]?.pid;
  const before = await pid();
  const row = { business_id: "b", payable_id: "p", owner: "o", claimed_at_ms: 1 };
  const twice = store.db.insertInto("claims").values([row, row]).execute();
  await expect(twice).rejects.toThrow(/duplicate key/);
  expect(await store.db.selectFrom("claims").selectAll().execute()).toEqual([]);
  expect(await pid()).toBe(before);
});
