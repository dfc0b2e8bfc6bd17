import { expect, test } from "vitest";
import { withoutDeposit } from "../../../activities/deposit/without-deposit.ts";
import { ClockReading } from "../../../src/business/clock.ts";
import type { TopUp } from "../../../src/store/deposits/deposits.ts";
import { factsOf, readAt } from "../../ledger/facts.ts";

test.each([
  ["at once", null, 1_000],
  ["ever more rarely, where that goes on", 120_000, 12_000],
  ["at least once a minute", 86_400_000, 60_000],
])("an inconclusive list of balance transactions is read again %s", (_, forMs, waitMs) => {
  const serviceMs = 200_000_000;
  const topUp = { backOffSinceMs: forMs === null ? null : serviceMs - forMs } as TopUp;
  const clock = new ClockReading({ businessMs: serviceMs });
  const notWhole = { kind: "read", reason: "The service was read too long ago." } as const;
  const forPeople = { kind: "person", code: "refused", reason: "It was refused." } as const;
  for (const step of [notWhole, forPeople]) {
    const answer = { kind: "step", step } as const;
    const outcome = withoutDeposit(topUp, factsOf([]), answer, { reading: readAt(0), clock });
    expect(outcome).toMatchObject({ kind: "back-off", waitMs });
  }
});

test("a deposit that a restored store doesn't send yet says that it waits, and until when", () => {
  const clock = new ClockReading({ businessMs: Date.UTC(2026, 10, 26, 15), serviceMs: 0 });
  const step = { kind: "wait", reason: "restored", waitMs: 30 * 60_000 } as const;
  const topUp = { backOffSinceMs: null } as TopUp;
  const answer = { kind: "step", step } as const;
  expect(withoutDeposit(topUp, factsOf([]), answer, { reading: readAt(0), clock })).toMatchObject({
    reason: expect.stringContaining("until Thu, Nov 26, 10:30 AM New York"),
  });
});
