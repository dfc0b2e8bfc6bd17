import { expect, test } from "vitest";
import { openStore, StoreError } from "../../src/store/index.ts";
import { child, emptyPlace, testStore } from "./support.ts";

test("a store of a newer version is refused", async () => {
  const { store, url } = await testStore();
  await store.db
    .withTables<{ payrun_migrations: { version: number; name: string; applied_at_ms: number } }>()
    .insertInto("payrun_migrations")
    .values({ version: 99, name: "from the future", applied_at_ms: 1 })
    .execute();
  const error: unknown = await openStore(url).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: "newer", message: expect.stringContaining("99") });
});

test("two processes and more that start at once make one store", async () => {
  const url = await emptyPlace();
  const versions = await Promise.all([1, 2, 3, 4].map(() => child("open", [url])));
  const [first] = versions;
  expect(first).toContain(1);
  expect(versions).toEqual(versions.map(() => first));
});

test("a store that has to exist is not made where there is none", async () => {
  const url = await emptyPlace();
  await expect(openStore(url, { mustExist: true })).rejects.toMatchObject({ code: "missing" });
});
