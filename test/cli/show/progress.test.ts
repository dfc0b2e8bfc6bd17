import { expect, test } from "vitest";

import type { RunStatus } from "../../../src/api/runs.ts";
import { progressLine } from "../../../src/cli/show/wait-for-run.ts";

const SETTLING = {
  phase: "settling",
  counts: { parked: 2, settled: 5, skipped: 40 },
  byState: {
    parked: { count: 2, cents: 4_000 },
    settled: { count: 5, cents: 9_000 },
    skipped: { count: 40, cents: 80_000 },
  },
} as unknown as RunStatus;

test("a progress line counts bills by state, without those that were left out", () => {
  expect(progressLine(SETTLING)).toBe("settling · 5 settled · 2 parked");
  const { byState: _, ...unsummed } = SETTLING;
  expect(progressLine(unsummed)).toBe("settling · 2 parked · 5 settled");
});

test("a progress line counts bills that were given back apart from parked ones", () => {
  const one = { ...SETTLING, givenBack: { count: 1, cents: 1_000 } };
  expect(progressLine(one)).toBe("settling · 5 settled · 1 parked · 1 given-back");
  const both = { ...SETTLING, givenBack: { count: 2, cents: 4_000 } };
  expect(progressLine(both)).toBe("settling · 5 settled · 2 given-back");
});
