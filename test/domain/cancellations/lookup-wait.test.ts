import { expect, test } from "vitest";
import { lookupWaitMs } from "../../../src/domain/cancellations/lookup-wait.ts";

test("a cancel sent just now is looked up every second, an old one rarely", () => {
  expect([0, 2_000, 8_000, 60_000, 3_600_000].map(lookupWaitMs)).toEqual([
    1_000, 1_000, 2_000, 15_000, 15_000,
  ]);
});
