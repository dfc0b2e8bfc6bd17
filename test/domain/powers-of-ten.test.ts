import { expect, test } from "vitest";
import { isPowerOfTen } from "../../src/domain/powers-of-ten.ts";

test("something that repeats without end is notified at 1, 10, 100 …, and not between", () => {
  const told = Array.from({ length: 1_001 }, (_, times) => times).filter(isPowerOfTen);
  expect(told).toEqual([1, 10, 100, 1_000]);
});
