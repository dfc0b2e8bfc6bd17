import { expect, test } from "vitest";
import { doublingMs, growingMs } from "../../src/domain/back-off.ts";

test("a back-off doubles with every try up to its limit, after any number of tries", () => {
  expect([0, 1, 2, 3, 4].map((tries) => doublingMs(1_000, 6_000, tries))).toEqual([
    1_000, 2_000, 4_000, 6_000, 6_000,
  ]);
  expect(doublingMs(1_000, 6_000, 100_000)).toBe(6_000);
});

test("a wait grows with the time passed, within its bounds, in whole milliseconds", () => {
  const rests = { share: 0.1, firstMs: 1_000, mostMs: 6_000 };
  expect([0, 9_999, 12_345, 1e9].map((passedMs) => growingMs(passedMs, rests))).toEqual([
    1_000, 1_000, 1_235, 6_000,
  ]);
});
