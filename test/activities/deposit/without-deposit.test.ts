import { expect, test } from "vitest";
import { outcomeOfDeposit } from "../../../activities/deposit/without-deposit.ts";
import { saidByGate } from "../../../activities/shared/perform.ts";
import { ClockReading } from "../../../src/business/clock.ts";
import type { GateStep } from "../../../src/ledger/gate.ts";
import type { TopUp } from "../../../src/store/deposits/deposits.ts";
import { factsOf, readAt } from "../../ledger/facts.ts";

function outcomeOf(topUp: TopUp, step: GateStep, clock: ClockReading) {
  const heard = { seen: { needed: null, reading: readAt(0) }, sent: null, isOpen: false, clock };
  const { said, closed } = saidByGate({ kind: "step", step }, clock);
  return outcomeOfDeposit(topUp, said, { ...heard, closed }, factsOf([]));
}

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
    expect(outcomeOf(topUp, step, clock)).toMatchObject({ kind: "back-off", waitMs });
  }
});

test("a deposit that a restored store doesn't send yet says that it waits, and until when", () => {
  const clock = new ClockReading({ businessMs: Date.UTC(2026, 10, 26, 15), serviceMs: 0 });
  const step = { kind: "wait", reason: "restored", waitMs: 30 * 60_000 } as const;
  const topUp = { backOffSinceMs: null } as TopUp;
  expect(outcomeOf(topUp, step, clock)).toMatchObject({
    reason: expect.stringContaining("until Thu, Nov 26, 10:30 AM New York"),
  });
});
