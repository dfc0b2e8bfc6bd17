import { expect, test } from "vitest";
import { LINE_STATES, type LineState } from "../../../src/contracts/line-states.ts";
import { isException } from "../../../src/domain/runs/exceptions.ts";

test("a cancelled bill is an exception of its run, but a bill that the plan left out is not", () => {
  const are = (reasonCode: string | null): LineState[] =>
    LINE_STATES.filter((state) => isException({ state, reasonCode }));
  const odd = [
    "on-hold",
    "unknown",
    "held",
    "retrying",
    "parked",
    "cancelled",
    "refunded",
  ] as const;
  expect(are(null).toSorted()).toEqual(
    [...odd, "returned", "paid-elsewhere", "given-up"].toSorted(),
  );
  const withReason = are("limit");
  expect(withReason).toContain("planned");
  for (const state of ["skipped", "settled"] as const) expect(withReason).not.toContain(state);
});

test("in a run that was cancelled or rejected as a whole, no bill is an exception", () => {
  for (const reasonCode of ["run_cancelled", "rejected"]) {
    expect(isException({ state: "cancelled", reasonCode })).toBe(false);
  }
  expect(isException({ state: "cancelled", reasonCode: "dropped" })).toBe(true);
});
