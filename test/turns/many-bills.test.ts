import { afterEach, expect, test, vi } from "vitest";
import type { Assessment } from "../../src/contracts/activities.ts";
import { WORKFLOW } from "../../src/contracts/workflow-kinds.ts";
import type { LineState } from "../../src/contracts/line-states.ts";
import { newYorkInstantMs } from "../../src/domain/clock/new-york.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { judgeProgress } from "../../src/domain/runs/run-progress.ts";
import { Scene } from "./scene.ts";
import { ClockReading } from "../../src/business/clock.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const at = (time: string): number => newYorkInstantMs("2026-11-24", time);
const BEGUN = { ended: false, planned: true };

/** A run of many bills whose payments settle one after the other. */
class Bills {
  readonly #scene: Scene;
  readonly #count: number;
  settled = 0;
  flagged = 0;
  toPay = 0;

  constructor(scene: Scene, count: number) {
    this.#scene = scene;
    this.#count = count;
  }

  assess(): Assessment {
    const businessMs = this.#scene.nowMs;
    const counts = new Map<LineState, { count: number; cents: number }>();
    const add = (state: LineState, count: number): void => {
      if (count > 0) counts.set(state, { count, cents: count });
    };
    add("settled", this.settled);
    add("planned", this.toPay);
    add("processing", this.#count - this.settled - this.toPay);
    const clock = new ClockReading({ businessMs });
    return judgeProgress({
      run: {
        runId: "pay-run/acme/weekly/2026-11-19",
        phase: "settling",
        playbook: "weekly",
        period: "2026-11-19",
        business: "acme",
        totalCents: this.#count,
        cancelRequestedAtMs: null,
        approveByMs: null,
        planHash: "hash",
        policy: { schedule: null },
      },
      rejected: false,
      needsAction: false,
      counts,
      waits: [],
      expiredLines: 0,
      cameBack: new Map(),
      stoppedLines: 0,
      odd: [],
      toFund: 0,
      toPay: this.toPay,
      toFollow: this.flagged,
      nextPollMs: nextPollMs(clock, newYorkInstantMs("2026-11-23", "09:00")),
      nextLeaseMs: null,
      payDate: null,
      clock,
    });
  }
}

test.each([1_000, 10_000, 100_000])(
  "a run of %d bills reads each payment within a minute of its event, at any time of the day",
  async (count) => {
    const scene = new Scene(at("08:29"));
    const bills = new Bills(scene, count);
    const waiting: number[] = [];
    const delays: number[] = [];
    scene.start(
      WORKFLOW.payRun,
      { runId: "run" },
      {
        openRun: () => BEGUN,
        reviewRun: () => bills.assess(),
        followPayments: async () => {
          await scene.takes(1_000);
          delays.push(...waiting.splice(0).map((toldMs) => scene.nowMs - toldMs));
          bills.settled += bills.flagged;
          bills.flagged = 0;
          return { changed: 1 };
        },
      },
    );
    for (let told = 0; told < 40; told += 1) {
      scene.at(at("08:30") + told * 17_000, () => {
        bills.flagged += 10;
        waiting.push(scene.nowMs);
        scene.tell();
      });
    }
    await scene.until(at("09:00"));
    expect(bills.settled).toBe(400);
    expect(Math.max(...delays)).toBeLessThan(count < 100_000 ? 15_000 : 65_000);
  },
);

test("a run of 10,000 bills acts on a hold, a decision and a cancellation within seconds, even while it pays", async () => {
  const scene = new Scene(at("08:29"));
  const bills = new Bills(scene, 10_000);
  bills.toPay = 5_000;
  bills.flagged = 100;
  const looks: number[] = [];
  scene.start(
    WORKFLOW.payRun,
    { runId: "run" },
    {
      openRun: () => BEGUN,
      reviewRun: () => {
        looks.push(scene.nowMs);
        return bills.assess();
      },
      followPayments: () => ({ changed: 0 }),
      payBills: () => scene.takes(3_600_000),
    },
  );
  const told = ["08:33:10", "08:40:00", "08:59:59"].map(
    (time) => newYorkInstantMs("2026-11-24", time.slice(0, 5)) + Number(time.slice(6)) * 1_000,
  );
  for (const toldMs of told) scene.at(toldMs, () => void scene.tell());
  await scene.until(at("09:10"));
  for (const toldMs of told) {
    const heardMs = looks.find((atMs) => atMs > toldMs) ?? Infinity;
    expect(heardMs - toldMs).toBeLessThan(6_000);
  }
});

test("a run with a long history acts on signals while it waits for its lanes", async () => {
  const scene = new Scene(at("08:29"), 5);
  const bills = new Bills(scene, 10_000);
  bills.toPay = 5_000;
  const looks: number[] = [];
  const funded: number[] = [];
  let toFund = 0;
  scene.start(
    WORKFLOW.payRun,
    { runId: "run" },
    {
      openRun: () => BEGUN,
      reviewRun: () => {
        looks.push(scene.nowMs);
        return { ...bills.assess(), toFund };
      },
      reserveMoney: () => {
        funded.push(scene.nowMs);
        toFund = 0;
        return { funded: 1 };
      },
      followPayments: () => ({ changed: 0 }),
      payBills: () => scene.takes(600_000),
    },
  );
  // The history gets long while the lanes pay; the lanes end at 08:39.
  for (let told = 0; told < 150; told += 1) {
    scene.at(at("08:30") + told * 1_000, () => void scene.tell());
  }
  scene.at(at("08:35"), () => {
    toFund = 1;
    scene.tell();
  });
  await scene.until(at("08:38"));
  expect(scene.executions).toBe(1);
  expect((funded[0] ?? Infinity) - at("08:35")).toBeLessThan(6_000);
  // Signals in the meantime are gathered.
  expect(looks.length).toBeLessThan(60);
  await scene.until(at("08:41"));
  expect(scene.executions).toBe(2);
});

test("a run of many bills takes one look for many events", async () => {
  const scene = new Scene(at("08:29"));
  const bills = new Bills(scene, 10_000);
  let looks = 0;
  scene.start(
    WORKFLOW.payRun,
    { runId: "run" },
    {
      openRun: () => BEGUN,
      reviewRun: () => {
        looks += 1;
        return bills.assess();
      },
      followPayments: () => {
        bills.flagged = 0;
        return { changed: 1 };
      },
    },
  );
  for (let told = 0; told < 1_000; told += 1) {
    scene.at(at("08:30") + told * 60, () => {
      bills.flagged += 1;
      scene.tell();
    });
  }
  await scene.until(at("08:40"));
  expect(looks).toBeLessThan(40);
});

test("an incident that 1,000 bills join within a minute looks about every two seconds, and acts on its decision as quickly", async () => {
  const scene = new Scene(at("08:29"));
  const looks: number[] = [];
  let decided = false;
  scene.start(
    WORKFLOW.fundingIncident,
    { business: "acme", sourceId: "balance" },
    {
      reviewIncident: async () => {
        looks.push(scene.nowMs);
        await scene.takes(50);
        const phase = decided ? "ended" : "open";
        const rest = { waitingFor: null, wakeInMs: 86_400_000, details: "", outcome: null };
        return { ...rest, phase };
      },
    },
  );
  for (let told = 0; told < 1_000; told += 1) {
    scene.at(at("08:30") + told * 60, () => void scene.tell());
  }
  const decidedMs = at("08:31") + 500;
  scene.at(decidedMs, () => {
    decided = true;
    scene.tell();
  });
  await scene.until(at("08:40"));
  expect(looks.length).toBeLessThan(40);
  expect((looks.at(-1) ?? Infinity) - decidedMs).toBeLessThan(2_500);
});
