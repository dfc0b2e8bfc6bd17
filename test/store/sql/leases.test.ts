import { expect, test } from "vitest";
import { releaseLease, takeLease } from "../../../src/store/sql/leases.ts";
import { testStore } from "../support.ts";

const ours = { name: "dispatcher", holder: "us" };
const theirs = { name: "dispatcher", holder: "them" };

/** One lasts longer than the test, the other has ended by the next statement. */
const LONG_MS = 3_600_000;
const OVER_MS = -1;

test("a lease has one holder, who may extend it", async () => {
  const { store } = await testStore();
  expect(await takeLease(store.db, ours, LONG_MS)).toBe(true);
  expect(await takeLease(store.db, theirs, LONG_MS)).toBe(false);
  expect(await takeLease(store.db, ours, LONG_MS)).toBe(true);
  expect(await takeLease(store.db, theirs, LONG_MS)).toBe(false);
});

test("an expired or released lease can be taken by the next holder", async () => {
  const { store } = await testStore();
  await takeLease(store.db, ours, OVER_MS);
  expect(await takeLease(store.db, theirs, LONG_MS)).toBe(true);
  await releaseLease(store.db, ours);
  expect(await takeLease(store.db, ours, LONG_MS)).toBe(false);
  await releaseLease(store.db, theirs);
  expect(await takeLease(store.db, ours, LONG_MS)).toBe(true);
});

test("if many processes request a lease at the same moment, one gets it", async () => {
  const { store } = await testStore();
  const taken = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      takeLease(store.db, { name: "janitor", holder: `worker-${index}` }, LONG_MS),
    ),
  );
  expect(taken.filter(Boolean)).toHaveLength(1);
});
