import { expect, test } from "vitest";
import { isPowerOfTen } from "../../src/domain/powers-of-ten.ts";

test("something that keeps repeating is notified at its 1st, 10th, 100th … time only", () => {
  const told = Array.from({ length: 1_001 }, (_, times) => times).filter(isPowerOfTen);
  expect(told).toEqual([1, 10, 100, 1_000]);
});
