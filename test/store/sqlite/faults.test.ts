import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { takeLease } from "../../../src/store/sql/leases.ts";
import { howItTakesWrites } from "../../../src/store/sql/small-write.ts";
import { toStoreError } from "../../../src/store/sqlite/errors.ts";
import { temporaryFolder } from "../support.ts";

async function opened(ownThread: boolean): Promise<Store> {
  const path = join(temporaryFolder(), "payrun.db");
  const store = await openStore(`sqlite:${path}`, { ownThread });
  onTestFinished(() => store.close());
  return store;
}

const set = (store: Store, pragma: string) => sql.raw(`pragma ${pragma}`).execute(store.db);

const row = (n: number) => ({
  ...{ business_id: "b", payable_id: `p${n}`, claimed_at_ms: 1 },
  owner: "o".repeat(1_000_000),
});

const large = (store: Store, n: number) => store.db.insertInto("claims").values(row(n)).execute();

const wholeLarge = (store: Store, n: number) =>
  store.transaction((trx) => trx.insertInto("claims").values(row(n)).execute());

test.each([
  { ownThread: true, name: "a single statement", write: large },
  { ownThread: true, name: "a transaction", write: wholeLarge },
  { ownThread: false, name: "a single statement", write: large },
  { ownThread: false, name: "a transaction", write: wholeLarge },
])(
  "$name that finds no room says that the disk is full, and succeeds once there is room (own thread: $ownThread)",
  async ({ ownThread, write }) => {
    const store = await opened(ownThread);
    await set(store, "max_page_count = 1");
    await expect(write(store, 1)).rejects.toMatchObject({
      name: "StoreError",
      code: "full",
      message: expect.stringMatching(/payrun\.db: the disk is full.*Make room/),
    });
    expect(await store.db.selectFrom("claims").select("owner").execute()).toEqual([]);
    await set(store, "max_page_count = 1000000");
    await write(store, 1);
    expect(await store.db.selectFrom("claims").select("payable_id").execute()).toHaveLength(1);
  },
);

test.each([true, false])(
  "a store whose file is read-only says so, and goes on once it can be written (own thread: %s)",
  async (ownThread) => {
    const store = await opened(ownThread);
    expect(await howItTakesWrites(store)).toBe("ok");
    await set(store, "query_only = on");
    expect(await howItTakesWrites(store)).toBe("read_only");
    const lease = { name: "a", holder: "b" };
    await expect(takeLease(store.db, lease, 1)).rejects.toMatchObject({ code: "read_only" });
    await set(store, "query_only = off");
    expect(await howItTakesWrites(store)).toBe("ok");
  },
);

test.each([
  [1_034, "failing", /the disk, or its file system, fails \(said by SQLite\)/],
  [11, "corrupt", /payrun\.db is damaged/],
])("a fault of SQLite's, code %i, is reported as %s", (errcode, code, message) => {
  const error = Object.assign(new Error("said by SQLite"), { errcode });
  const path = join(temporaryFolder(), "payrun.db");
  expect(toStoreError(error, path)).toMatchObject({
    ...{ name: "StoreError", code },
    message: expect.stringMatching(message),
  });
});

test("an error that isn't about the disk stays as it is", () => {
  const constraint = Object.assign(new Error("UNIQUE constraint failed"), { errcode: 2_067 });
  expect(toStoreError(constraint, "payrun.db")).toBe(constraint);
});
