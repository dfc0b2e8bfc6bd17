import { sql } from "kysely";
import { expect, test } from "vitest";
import { createToken, listTokens } from "../../../src/store/approvals/tokens.ts";
import { testStore } from "../support.ts";

test("texts sort by their bytes, whatever the database's language", async () => {
  const { store } = await testStore();
  const ids = ["b", "A", "a", "B", "_", "é", "Z", "10", "9"];
  await store.db
    .insertInto("claims")
    .values(ids.map((id) => ({ business_id: "b", payable_id: id, owner: "o", claimed_at_ms: 1 })))
    .execute();
  const rows = await store.db
    .selectFrom("claims")
    .select("payable_id")
    .orderBy("payable_id")
    .execute();
  expect(rows.map((row) => row.payable_id)).toEqual(ids.toSorted());
  // The database's own order differs, or this test would prove nothing.
  const plain = await sql<{ ok: boolean }>`select 'a' < 'B' as ok`.execute(store.db);
  expect(plain.rows).toEqual([{ ok: true }]);
});

test("every text column sorts by its bytes", async () => {
  const { store } = await testStore();
  const found = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = current_schema() and data_type = 'text'
      and collation_name is distinct from 'C'`.execute(store.db);
  expect(found.rows).toEqual([]);
});

test("sums, counts and instants come back as numbers", async () => {
  const { store } = await testStore();
  const { rows } = await sql<Record<string, unknown>>`
    select sum(x) as sum, count(*) as count, max(x) as most
    from (values (1::bigint), (9007199254740990)) as v (x)`.execute(store.db);
  expect(rows).toEqual([{ sum: Number.MAX_SAFE_INTEGER, count: 2, most: 9007199254740990 }]);
});

test("an instant with a fraction and a text with a NUL can be stored", async () => {
  const { store } = await testStore();
  const made = { roles: [], createdBy: "a\0b", nowMs: 10.75, name: "lena" };
  await createToken(store, made);
  const [token] = await listTokens(store.db);
  expect(token).toMatchObject({ createdAtMs: 10, createdBy: "a\uFFFDb" });
});

test("a query for none of many values finds no rows", async () => {
  const { store } = await testStore();
  const rows = await store.db.selectFrom("claims").selectAll().where("owner", "in", []).execute();
  expect(rows).toEqual([]);
});

test("a table that only grows can't be truncated", async () => {
  const { store } = await testStore();
  await expect(sql`truncate audit`.execute(store.db)).rejects.toThrow("audit only grows");
});

test("a transaction is flushed unless it opts out", async () => {
  const { store } = await testStore();
  const level = async (flush: boolean) =>
    store.transaction(async (trx) => (await sql`show synchronous_commit`.execute(trx)).rows, {
      flush,
    });
  expect(await level(false)).toEqual([{ synchronous_commit: "off" }]);
  expect(await level(true)).toEqual([{ synchronous_commit: "on" }]);
});
