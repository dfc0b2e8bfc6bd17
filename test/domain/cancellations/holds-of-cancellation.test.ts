import { expect, test } from "vitest";
import { holdsOfCancellation } from "../../../src/domain/cancellations/holds-of-cancellation.ts";
import { cancelOfHeld, cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import type { StopScope } from "../../../src/domain/holds.ts";

const reason = "fraud?";

function hold(scope: string, value: string, holdId = "hold_stop") {
  return { scope, value, holdId, reason };
}

/** What a stop holds if its own hold and the given ones are in force. */
function stopOf(scope: StopScope, ...others: ReturnType<typeof hold>[]) {
  return holdsOfCancellation(cancelOfHeld({ scope, value: "x" }, "hold_stop"), [
    hold(scope, "x"),
    ...others,
  ]);
}

test.each(["contact", "all"] as const)(
  "a stop of a %s holds every bill by its own hold",
  (scope) => {
    const kept = stopOf(scope);
    expect(kept).toMatchObject({ byOne: "hold_stop", lifted: false });
    expect([kept.has("p1"), kept.has(null)]).toEqual([true, true]);
  },
);

test.each(["run", "source"] as const)(
  "a stop of a %s holds only bills with holds of their own: another run would pay the others",
  (scope) => {
    const kept = stopOf(scope, hold("payable", "p1", "hold_1"));
    expect(kept.byOne).toBeUndefined();
    expect([kept.has("p1"), kept.has("p2"), kept.has(null)]).toEqual([true, false, true]);
  },
);

test.each(["contact", "all", "run", "source"] as const)(
  "a stop of a %s that was lifted holds nothing, whatever else is on hold",
  (scope) => {
    const policy = cancelOfHeld({ scope, value: "x" }, "hold_stop");
    const kept = holdsOfCancellation(policy, [
      hold("all", "", "hold_other"),
      hold("payable", "p1", "hold_1"),
    ]);
    expect(kept.lifted).toBe(true);
    expect([kept.has("p1"), kept.has(null)]).toEqual([false, false]);
  },
);

test("a cancel without a stop needs a hold on each bill, but none on a payment without a bill", () => {
  const policy = cancelOfPayments(["pmt_1"]);
  const kept = holdsOfCancellation(policy, [
    hold("payable", "p1", "hold_1"),
    hold("all", "", "hold_other"),
  ]);
  expect(kept.lifted).toBe(false);
  expect([kept.has("p1"), kept.has("p2"), kept.has(null)]).toEqual([true, false, true]);
});
