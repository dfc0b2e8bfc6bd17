import { describe, expect, test } from "vitest";
import type { LineState } from "../../src/contracts/pay-run.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { judgeProgress, type ProgressInput } from "../../src/domain/run-progress.ts";

function input(
  counts: Partial<Record<LineState, number>>,
  changes: Partial<ProgressInput> = {},
): ProgressInput {
  return {
    run: {
      phase: "paying",
      playbook: "weekly",
      period: "2026-11-05",
      business: "acme",
      totalCents: 100_00,
      cancelRequestedAtMs: null,
      planHash: "hash",
    },
    rejected: false,
    counts: new Map(
      Object.entries(counts).map(([state, count]) => [
        state as LineState,
        { count, cents: count * 100 },
      ]),
    ),
    waits: [],
    expiredLines: 0,
    stoppedLines: 0,
    odd: [],
    toFund: 0,
    toPay: 0,
    toFollow: 0,
    nextPollMs: null,
    nextDrawMs: null,
    payDate: null,
    clock: { businessMs: 0, serviceMs: 0, scale: 1, sandbox: false },
    ...changes,
  };
}

const cancelled = { ...input({}).run, cancelRequestedAtMs: 1 };

describe("the phase of a run", () => {
  test.each([
    ["awaiting-approval", input({ "awaiting-approval": 1, scheduled: 5 })],
    ["paying", input({ paying: 1, "awaiting-approval": 1 })],
    ["paying", input({ planned: 2 })],
    ["funding", input({ planned: 2 }, { toFund: 2 })],
    ["settling", input({ scheduled: 1, settled: 3 })],
    ["settling", input({ retrying: 1, settled: 3 })],
    ["completed", input({ settled: 3, cancelled: 1, "paid-elsewhere": 1 })],
    ["completed", input({})],
    ["completed-with-exceptions", input({ settled: 3, parked: 1 })],
    ["completed-with-exceptions", input({ settled: 3, returned: 1 })],
    ["completed-with-exceptions", input({ settled: 3, cancelled: 1 }, { stoppedLines: 1 })],
    ["rejected", input({ cancelled: 3 }, { rejected: true })],
    ["expired", input({ parked: 2 }, { expiredLines: 2 })],
    ["completed-with-exceptions", input({ parked: 2, settled: 1 }, { expiredLines: 2 })],
    ["cancelled", input({ cancelled: 2, settled: 1 }, { run: cancelled })],
  ] as const)("is %s", (phase, given) => {
    expect(judgeProgress(given).phase).toBe(phase);
  });
});

describe("how long a run sleeps without an event", () => {
  test("on real clocks until the next poll, a day at most", () => {
    const soon = input({ scheduled: 1 }, { nextPollMs: 90_000 });
    expect(judgeProgress(soon).wakeInMs).toBe(90_000);
    const late = input({ scheduled: 1 }, { nextPollMs: 90_000_000 });
    expect(judgeProgress(late).wakeInMs).toBe(24 * 3_600_000);
  });

  test("an hour where people decide, five minutes where something may end by itself", () => {
    const wakeInMs = (...states: LineState[]): number =>
      judgeProgress(input(Object.fromEntries(states.map((state) => [state, 1])))).wakeInMs;
    expect(wakeInMs("awaiting-approval", "scheduled")).toBe(3_600_000);
    expect(wakeInMs("awaiting-approval", "on-hold")).toBe(300_000);
    expect(wakeInMs("unknown")).toBe(300_000);
    const message = "the service asks for a pause";
    const waits = [{ message, retryAtMs: 9_000_000 }];
    expect(judgeProgress(input({ scheduled: 1 }, { waits })).wakeInMs).toBe(300_000);
  });

  test("so long that a week with the bank costs a run of 10,000 bills few events a bill", () => {
    const start = Date.parse("2026-11-19T15:00:00Z");
    let turns = 0;
    for (let now = start; now < start + 5 * 86_400_000; turns += 1) {
      const clock = { businessMs: now, serviceMs: now, scale: 1, sandbox: false };
      const polled = input({ scheduled: 1 }, { clock, nextPollMs: nextPollMs(now, start, 1) });
      now += judgeProgress(polled).wakeInMs;
    }
    // A turn is a timer, two activities and the workflow's tasks between them.
    const eventsATurn = 17;
    expect((turns * eventsATurn) / 10_000).toBeLessThan(0.05);
  });

  test("on a fast bank clock the business time that remains counts at its scale", () => {
    const clock = { businessMs: 0, serviceMs: 0, scale: 1_000, sandbox: true };
    const given = input({ scheduled: 1 }, { clock, nextPollMs: 600_000 });
    expect(judgeProgress(given).wakeInMs).toBe(600);
  });

  test("until the next reminder or escalation of an approval", () => {
    const clock = { businessMs: 5_000, serviceMs: 0, scale: 1, sandbox: false };
    const given = input({ "awaiting-approval": 1 }, { clock, nextAskMs: 65_000 });
    expect(judgeProgress(given).wakeInMs).toBe(60_000);
  });

  test("never so short that it would spin", () => {
    const given = input({ scheduled: 1 }, { nextPollMs: -1 });
    expect(judgeProgress(given).wakeInMs).toBe(250);
  });
});

test("what a run waits for is said in words, a fault of the service first", () => {
  const waiting = input({ "awaiting-approval": 1, scheduled: 12 });
  expect(judgeProgress(waiting).waitingFor).toBe("1 bill waiting for approval, 12 bills scheduled");
  const waits = [{ message: "payments are locked", retryAtMs: 1_000 }];
  expect(judgeProgress(input({ planned: 3 }, { waits })).waitingFor).toContain(
    "payments are locked",
  );
});
