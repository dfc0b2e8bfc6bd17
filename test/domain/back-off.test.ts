import { expect, test } from "vitest";
import { doublingMs } from "../../src/domain/back-off.ts";

test("a rest doubles with every try up to its most, however many there were", () => {
  expect([0, 1, 2, 3, 4].map((tries) => doublingMs(1_000, 6_000, tries))).toEqual([
    1_000, 2_000, 4_000, 6_000, 6_000,
  ]);
  expect(doublingMs(1_000, 6_000, 100_000)).toBe(6_000);
});
