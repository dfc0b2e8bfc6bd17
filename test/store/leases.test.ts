import { expect, test } from "vitest";
import { releaseLease, takeLease } from "../../src/store/leases.ts";
import { testStore } from "./support.ts";

const ours = { name: "dispatcher", holder: "us" };
const theirs = { name: "dispatcher", holder: "them" };

test("a lease has one holder, who may keep it for longer", async () => {
  const { store } = await testStore();
  expect(await takeLease(store.db, ours, 1_000, 2_000)).toBe(true);
  expect(await takeLease(store.db, theirs, 1_999, 9_000)).toBe(false);
  expect(await takeLease(store.db, ours, 1_999, 3_000)).toBe(true);
  expect(await takeLease(store.db, theirs, 2_500, 9_000)).toBe(false);
});

test("a lease that has run out or was given back is the next one's", async () => {
  const { store } = await testStore();
  await takeLease(store.db, ours, 1_000, 2_000);
  expect(await takeLease(store.db, theirs, 2_000, 3_000)).toBe(true);
  await releaseLease(store.db, ours);
  expect(await takeLease(store.db, ours, 2_500, 3_500)).toBe(false);
  await releaseLease(store.db, theirs);
  expect(await takeLease(store.db, ours, 2_500, 3_500)).toBe(true);
});

test("of many that ask at the same moment one gets it", async () => {
  const { store } = await testStore();
  const taken = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      takeLease(store.db, { name: "sweeper", holder: `worker-${index}` }, 1_000, 2_000),
    ),
  );
  expect(taken.filter(Boolean)).toHaveLength(1);
});
