import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { StoreError } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { child, emptyPlace, testStore } from "./support.ts";

async function refusal(url: string): Promise<StoreError> {
  const error: unknown = await openStore(url, { mustExist: true }).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error as StoreError;
}

test("a store made by another version is refused unchanged, with its place and the way out", async () => {
  const { store, url } = await testStore();
  await sql`update payrun_schema set version = 'of another day'`.execute(store.db);
  await store.close();
  const isFile = url.startsWith("sqlite:");
  const path = isFile ? url.slice("sqlite:".length) : "";
  const before = isFile ? readFileSync(path) : Buffer.of();

  const { code, message } = await refusal(url);

  expect(code).toBe("incompatible");
  expect(message).toContain(isFile ? path : new URL(url).pathname.slice(1));
  expect(message).toMatch(/of another day.*payrun audit export.*PAYRUN_DATABASE_URL/);
  expect(message).toMatch(isFile ? /move the file away/ : /dropdb \w+; createdb \w+/);
  expect(message).not.toContain("\n");
  if (isFile) expect(readFileSync(path).equals(before)).toBe(true);
});

test("a store that notes its schema differently, or not at all, counts as another version's", async () => {
  const { store, url } = await testStore();
  await sql`delete from payrun_schema`.execute(store.db);
  expect(await refusal(url)).toMatchObject({ code: "incompatible" });
  await sql`alter table payrun_schema rename to payrun_versions`.execute(store.db);
  expect(await refusal(url)).toMatchObject({ code: "incompatible" });
});

test("several processes that start at once make one store", async () => {
  const url = await emptyPlace();
  const marks = await Promise.all([1, 2, 3, 4].map(() => child("open", [url])));
  const [first] = marks;
  expect(first).toEqual([
    { version: expect.stringMatching(/^[0-9a-f]{12}$/), made_at_ms: expect.any(Number) },
  ]);
  expect(marks).toEqual(marks.map(() => first));
});

test("a store that must exist is not created if it is missing", async () => {
  const url = await emptyPlace();
  await expect(openStore(url, { mustExist: true })).rejects.toMatchObject({ code: "missing" });
});
