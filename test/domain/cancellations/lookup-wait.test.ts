import { expect, test } from "vitest";
import { lookupWaitMs } from "../../../src/domain/cancellations/lookup-wait.ts";

test("what was sent a moment ago is looked at every second, what was sent long ago now and then", () => {
  expect([0, 2_000, 8_000, 60_000, 3_600_000].map(lookupWaitMs)).toEqual([
    1_000, 1_000, 2_000, 15_000, 15_000,
  ]);
});
