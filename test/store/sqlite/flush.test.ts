import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../../../src/store/index.ts";
import { testStore } from "../support.ts";

test("a transaction is flushed unless it opts out, and later ones are flushed again", async () => {
  const { store } = await testStore();
  const level = (db: Db) =>
    sql<{ synchronous: number }>`pragma synchronous`
      .execute(db)
      .then(({ rows }) => rows[0]?.synchronous);
  const [full, normal] = [2, 1];
  expect(await store.transaction(level)).toBe(full);
  expect(await store.transaction(level, { flush: false })).toBe(normal);
  expect(await level(store.db)).toBe(full);
  const failing = store.transaction(() => Promise.reject(new Error("no")), { flush: false });
  await expect(failing).rejects.toThrow("no");
  expect(await level(store.db)).toBe(full);
});
