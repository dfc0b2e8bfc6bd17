import { expect, test } from "vitest";
import { lanesFor } from "../../../src/domain/runs/lanes.ts";

test("a few lines get one lane, many at most four, and none get none", () => {
  expect([0, 1, 20, 21, 60, 100_000].map(lanesFor)).toEqual([0, 1, 1, 2, 3, 4]);
});
