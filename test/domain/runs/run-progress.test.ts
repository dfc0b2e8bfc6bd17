import { describe, expect, test } from "vitest";
import type { LineState } from "../../../src/contracts/line-states.ts";
import type { ApprovalAsk } from "../../../src/domain/approvals/asks.ts";
import { nextPollMs } from "../../../src/domain/payments/poll-times.ts";
import { judgeProgress, type ProgressInput } from "../../../src/domain/runs/run-progress.ts";
import { ClockReading } from "../../../src/business/clock.ts";

function input(
  counts: Partial<Record<LineState, number>>,
  changes: Partial<ProgressInput> = {},
): ProgressInput {
  return {
    run: {
      runId: "pay-run/acme/weekly/2026-11-05",
      phase: "paying",
      playbook: "weekly",
      period: "2026-11-05",
      business: "acme",
      totalCents: 100_00,
      cancelRequestedAtMs: null,
      approveByMs: null,
      planHash: "hash",
      policy: { schedule: null },
    },
    rejected: false,
    needsAction: false,
    counts: new Map(
      Object.entries(counts).map(([state, count]) => [
        state as LineState,
        { count, cents: count * 100 },
      ]),
    ),
    waits: [],
    expiredLines: 0,
    cameBack: new Map(),
    stoppedLines: 0,
    odd: [],
    toFund: 0,
    toPay: 0,
    toFollow: 0,
    nextPollMs: null,
    nextLeaseMs: null,
    payDate: null,
    clock: new ClockReading({ businessMs: 0 }),
    ...changes,
  };
}

function ask(changes: Partial<ApprovalAsk>): ApprovalAsk {
  return {
    ...{ ruleIndex: 0, stage: 0, stages: 1, escalated: false, given: 0, isHeld: false },
    ...{ isHurried: false, asksRecord: false },
    ...{ count: 1, cents: 100, by: ["owner"], quorum: 1, escalatesTo: [] },
    ...{ sinceMs: null, sinceRealMs: null, remindAtMs: null, escalateAtMs: null },
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
    ["awaiting-approval", input({ "on-hold": 2 }, { isApproved: false })],
    ["paying", input({ "on-hold": 2 }, { isApproved: true })],
    ["settling", input({ "on-hold": 1, scheduled: 1 }, { isApproved: false })],
  ] as const)("a run's phase is %s", (phase, given) => {
    expect(judgeProgress(given).phase).toBe(phase);
  });
});

describe("a run's sleep without an event", () => {
  test("a run sleeps until its next poll, at most a week", () => {
    const soon = input({ scheduled: 1 }, { nextPollMs: 90_000 });
    expect(judgeProgress(soon).wakeInMs).toBe(90_000);
    const late = input({ scheduled: 1 }, { nextPollMs: 9_000_000_000 });
    expect(judgeProgress(late).wakeInMs).toBe(7 * 24 * 3_600_000);
  });

  test("a run sleeps until the next instant at which something changes by itself, on real clocks and a sandbox's", () => {
    const held = { "awaiting-approval": 1, "on-hold": 2 };
    const clock = new ClockReading({ businessMs: 5_000, serviceMs: 0 });
    const changes = { clock, nextChangesMs: [null, 4_000, 7_205_000, 9_000_000] };
    expect(judgeProgress(input(held, changes)).wakeInMs).toBe(7_200_000);
    const fast = { ...changes, clock: clock.with({ scale: 60, sandbox: true }) };
    expect(judgeProgress(input(held, fast)).wakeInMs).toBe(120_000);
    // Decisions and holds are signaled.
    expect(judgeProgress(input(held, { clock })).wakeInMs).toBe(7 * 24 * 3_600_000);
    const stepped = clock.with({ sandbox: true });
    expect(judgeProgress(input(held, { clock: stepped })).wakeInMs).toBe(7 * 24 * 3_600_000);
  });

  test("a run that waits for money sleeps longer each time, since no event announces the money", () => {
    const short = (shortForMs: number, sandbox: boolean) =>
      judgeProgress(
        input(
          { planned: 1 },
          { toFund: 1, shortForMs, clock: new ClockReading({ businessMs: 0, sandbox }) },
        ),
      ).wakeInMs;
    expect([0, 3_600_000, 86_400_000].map((ms) => short(ms, false))).toEqual([
      60_000, 360_000, 1_800_000,
    ]);
    expect([0, 60_000, 3_600_000].map((ms) => short(ms, true))).toEqual([2_000, 6_000, 60_000]);
  });

  test("a run sleeps until the service may be called again, and follows no deposit before", () => {
    const message = "the service asks for a pause";
    const waits = [{ sourceId: "", message, retryAtMs: 9_000_000 }];
    expect(judgeProgress(input({ scheduled: 1 }, { waits })).wakeInMs).toBe(9_000_000);
    const deposits = { due: true, moving: true, waitingFor: "it", dueInMs: 0 };
    const unread = { waits, deposits, mayRead: false };
    expect(judgeProgress(input({}, unread)).wakeInMs).toBe(9_000_000);
  });

  test("a run of 10,000 bills sleeps long enough that a week with the bank costs few events a bill", () => {
    const start = Date.parse("2026-11-19T15:00:00Z");
    let turns = 0;
    for (let now = start; now < start + 5 * 86_400_000; turns += 1) {
      const clock = new ClockReading({ businessMs: now });
      const polled = input({ scheduled: 1 }, { clock, nextPollMs: nextPollMs(clock, start) });
      now += judgeProgress(polled).wakeInMs;
    }
    // A turn is a timer, two activities and the workflow tasks between them.
    const eventsATurn = 17;
    expect((turns * eventsATurn) / 10_000).toBeLessThan(0.05);
  });

  test("on a fast bank clock a run's sleep is converted by the clock's scale", () => {
    const clock = new ClockReading({ businessMs: 0, scale: 1_000, sandbox: true });
    const given = input({ scheduled: 1 }, { clock, nextPollMs: 600_000 });
    expect(judgeProgress(given).wakeInMs).toBe(600);
  });

  test("a run sleeps until the next reminder or escalation of an approval", () => {
    const clock = new ClockReading({ businessMs: 5_000, serviceMs: 0 });
    const given = input({ "awaiting-approval": 1 }, { clock, nextAskMs: 65_000 });
    expect(judgeProgress(given).wakeInMs).toBe(60_000);
  });

  test("a due deposit that can't be made while the service can't be read doesn't shorten a run's sleep", () => {
    const deposits = { moving: false, waitingFor: "a deposit" };
    const wakeInMs = (dueInMs: number): number => {
      const waits = [{ sourceId: "", message: "the service can't be read", retryAtMs: 40_000 }];
      const due = { ...deposits, due: dueInMs <= 0, dueInMs };
      const given = { waits, deposits: due, toFund: 1, mayRead: false };
      return judgeProgress(input({ planned: 1 }, given)).wakeInMs;
    };
    expect(wakeInMs(-5_000)).toBe(40_000);
    expect(wakeInMs(20_000)).toBe(20_000);
  });

  test("a run always sleeps at least a quarter of a second, so that it can't spin", () => {
    const given = input({ scheduled: 1 }, { nextPollMs: -1 });
    expect(judgeProgress(given).wakeInMs).toBe(250);
  });
});

test("a run says what it waits for, a fault of the service first", () => {
  const waiting = input({ "awaiting-approval": 1, scheduled: 12 });
  expect(judgeProgress(waiting).waitingFor).toBe("1 bill waiting for approval, 12 bills scheduled");
  const waits = [{ sourceId: "", message: "payments are locked", retryAtMs: 1_000 }];
  expect(judgeProgress(input({ planned: 3 }, { waits })).waitingFor).toBe(
    "the service: payments are locked",
  );
  const away = [{ sourceId: "", message: "It can't be read.", retryAtMs: 120_000 }];
  expect(judgeProgress(input({ planned: 3 }, { waits: away })).waitingFor).toBe(
    "the service, which is tried again on Wed, Dec 31, 7:02 PM New York: It can't be read.",
  );
  const bounced = input({ retrying: 7 }, { bouncedLines: 6 });
  expect(judgeProgress(bounced).waitingFor).toBe(
    "1 bill retried after a failure, 6 bills waiting for a decision about their account, or for its deposit",
  );
  const held = input({ retrying: 3 }, { heldRetries: 2 });
  expect(judgeProgress(held).waitingFor).toBe(
    "1 bill retried after a failure, 2 bills on hold after a failure",
  );
  const ofSource = [{ sourceId: "ba_1", message: "ba_1 can't pay now", retryAtMs: 1_000 }];
  expect(judgeProgress(input({ "awaiting-approval": 3 }, { waits: ofSource })).waitingFor).toBe(
    "3 bills waiting for approval, the service: ba_1 can't pay now",
  );
});

test("a run says whose approval is missing, even for a bill that is also on hold", () => {
  const two = { by: ["controller", "owner"], quorum: 2, given: 1 };
  const once = { asks: [ask(two)] };
  expect(judgeProgress(input({ "awaiting-approval": 1 }, once)).waitingFor).toBe(
    "1 bill waiting for approval by a second person (controller or owner)",
  );
  const held = { asks: [ask({ ...two, isHeld: true })] };
  const { waitingFor, details } = judgeProgress(input({ "on-hold": 2, scheduled: 1 }, held));
  expect(waitingFor).toBe(
    "1 bill on hold, 1 bill on hold and waiting for approval by a second person (controller or owner), 1 bill scheduled",
  );
  expect(details).toContain("- a second person (controller or owner): 1 bill, $1.00, on hold.");
});

test("the details end what a run waits for with exactly one full stop", () => {
  const waits = [{ sourceId: "", message: "Payments are locked.", retryAtMs: 1_000 }];
  const lines = judgeProgress(input({ planned: 3 }, { waits })).details.split("\n");
  expect(lines).toContain("Waits for: the service: Payments are locked.");
  const waiting = judgeProgress(input({ "awaiting-approval": 1 })).details.split("\n");
  expect(waiting).toContain("Waits for: 1 bill waiting for approval.");
});

test("the details link to the run's page if its address is known", () => {
  const page = "https://payrun.example.com/runs/pay-run%2Facme%2Fweekly%2F2026-11-05";
  const { details } = judgeProgress(input({ "awaiting-approval": 1 }, { page }));
  expect(details).toContain(`[Open it in the console](${page})`);
  expect(judgeProgress(input({ "awaiting-approval": 1 })).details).not.toContain("console");
});

test("the details say who may approve, until when, and how", () => {
  const asks = [ask({ by: ["controller", "owner"], count: 2, cents: 200 })];
  const decideBy = "2026-11-05T05:00:00.000Z";
  const given = { asks, decideBy, page: "https://payrun.example.com/runs/1" };
  const { waitingFor, details } = judgeProgress(input({ "awaiting-approval": 2 }, given));
  expect(waitingFor).toBe("2 bills waiting for approval by controller or owner");
  expect(details).toContain("- controller or owner: 2 bills, $2.00.");
  expect(details).toContain(
    "Decide by Wednesday, Nov 4, 11:59 PM New York: after that, payment dates change. They decide on its page, or with `payrun approve pay-run/acme/weekly/2026-11-05`",
  );
});

test("a run whose payments were all called back says so in Temporal", () => {
  const { phase, soFar, details } = judgeProgress(input({ cancelled: 3 }));
  const said = "nothing of it was paid: all of its 3 bills, $3.00, were called back or left out";
  expect([phase, soFar]).toEqual(["completed", said]);
  expect(details).toContain(`So far: ${said}.`);
});
