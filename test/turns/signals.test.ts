import { afterEach, expect, test, vi } from "vitest";
import type { Assessment } from "../../src/contracts/activities.ts";
import { WORKFLOW } from "../../src/contracts/workflow-kinds.ts";
import { Scene } from "./scene.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const STARTS_MS = Date.UTC(2026, 10, 24, 13);
const HOUR_MS = 3_600_000;

const LOOK = { waitingFor: "something", wakeInMs: 12 * HOUR_MS, details: "" };
const RUN: Assessment = {
  ...LOOK,
  phase: "settling",
  ended: false,
  toFund: 0,
  toPay: 0,
  toFollow: 0,
  needsAction: false,
  exceptions: 0,
  totalCents: 0,
  payDate: null,
};

/**
 * Each long-lived workflow: its input, its activities that look, and what a look may find to do.
 */
const KINDS: readonly {
  readonly type: string;
  readonly input: object;
  readonly looks: readonly string[];
  readonly sleeps: object;
  readonly acts: readonly object[];
  readonly ends: object;
}[] = [
  {
    type: WORKFLOW.payRun,
    input: { runId: "run" },
    looks: ["reviewRun"],
    sleeps: RUN,
    acts: [
      { ...RUN, toFollow: 1 },
      { ...RUN, toFund: 1 },
      { ...RUN, toPay: 30, toDeposit: true },
      { ...RUN, toPay: 3, followEveryMs: 60_000, toFollow: 2 },
      { ...RUN, followEveryMs: 60_000, toFollow: 2 },
    ],
    ends: { ...RUN, ended: true, phase: "completed" },
  },
  {
    type: WORKFLOW.retryFailedPayment,
    input: { business: "acme", payableId: "bill" },
    looks: ["reviewFailedPayment", "payAgain"],
    sleeps: { ...LOOK, phase: "waiting", outcome: null },
    acts: [{ ...LOOK, phase: "pay", outcome: null }],
    ends: { ...LOOK, phase: "ended", outcome: "settled" },
  },
  {
    type: WORKFLOW.fundingIncident,
    input: { business: "acme", sourceId: "balance" },
    looks: ["reviewIncident"],
    sleeps: { ...LOOK, phase: "open", outcome: null },
    acts: [{ ...LOOK, phase: "topping-up", outcome: null, toDeposit: true }],
    ends: { ...LOOK, phase: "ended", outcome: "released" },
  },
  {
    type: WORKFLOW.cancelScheduledPayments,
    input: { id: "cancellation" },
    looks: ["reviewCancellation"],
    sleeps: { ...RUN, toCancel: 0 },
    acts: [
      { ...RUN, toChoose: true },
      { ...RUN, toCancel: 1 },
      { ...RUN, toCancel: 0, toFollow: 1 },
    ],
    ends: { ...RUN, ended: true },
  },
  {
    type: WORKFLOW.kybOnboarding,
    input: { business: "acme" },
    looks: ["reviewOnboarding"],
    sleeps: { ...LOOK, phase: "tax", ended: false, needsAction: true, send: null },
    acts: [
      {
        ...LOOK,
        phase: "tax",
        ended: false,
        needsAction: false,
        send: { inputId: "1", step: "tax" },
      },
    ],
    ends: { ...LOOK, phase: "verified", ended: true, needsAction: false, send: null },
  },
];

/** Returns the workflow's looks, which are all the same here. */
function each(names: readonly string[], look: () => unknown): Record<string, () => unknown> {
  return Object.fromEntries(names.map((name) => [name, look]));
}

/** Returns activities that take some time, for any workflow. */
function acting(scene: Scene): Record<string, () => unknown> {
  const random = scene.stream("steps");
  const step = (result: object) => async () => {
    await scene.takes(random.between(1, 3_000));
    return result;
  };
  return {
    openRun: step({ ended: false, planned: true }),
    reserveMoney: step({ funded: 0 }),
    followPayments: step({ changed: 1 }),
    payBills: step({}),
    makeDeposits: step({}),
    choosePayments: step({}),
    cancelPayments: step({ ended: 0 }),
    followRefunds: step({ ended: 0 }),
    sendOnboardingStep: step({ againInMs: 60_000 }),
  };
}

test.each(KINDS)(
  "$type looks after every signal before it sleeps or ends, whatever it is doing",
  async ({ type, input, looks: names, sleeps, acts, ends }) => {
    for (let seed = 1; seed <= 15; seed += 1) {
      const scene = new Scene(STARTS_MS, seed % 3 === 0 ? 12 : 4_000, seed);
      const random = scene.stream("told");
      const found = scene.stream("found");
      const looks: number[] = [];
      let lastMs = 0;
      const look = async (): Promise<object> => {
        looks.push(scene.nowMs);
        const isOver = scene.nowMs > STARTS_MS + HOUR_MS;
        // The look may miss what comes while it runs.
        const standing = isOver ? ends : found.chance(0.5) ? sleeps : found.pick(acts);
        await scene.takes(random.between(1, 2_000));
        return standing;
      };
      scene.start(type, input, { ...acting(scene), ...each(names, look) });
      const told: number[] = [];
      for (let atMs = STARTS_MS; atMs < STARTS_MS + 2 * HOUR_MS;) {
        atMs += random.chance(0.5) ? random.between(1, 4_000) : random.between(1, 10 * 60_000);
        scene.at(atMs, () => {
          if (!scene.tell()) return;
          told.push(scene.nowMs);
          lastMs = scene.nowMs;
        });
      }
      await scene.until(STARTS_MS + 30 * HOUR_MS);
      expect(scene.execution.state).toBe("completed");
      expect(lastMs).toBeGreaterThan(0);
      for (const toldMs of told) {
        const heardMs = looks.find((atMs) => atMs >= toldMs) ?? Infinity;
        expect(heardMs - toldMs, `seed ${seed}, told at ${toldMs}`).toBeLessThan(15_000);
      }
    }
  },
);

test.each(KINDS)(
  "$type pauses if its acts have no effect, and still reacts to signals",
  async ({ type, input, looks: names, acts }) => {
    for (const standing of acts) {
      const scene = new Scene(STARTS_MS);
      const looks: number[] = [];
      // As if a deposit is due and the service can't be read.
      const look = (): object => {
        looks.push(scene.nowMs);
        return { ...standing, wakeInMs: HOUR_MS };
      };
      scene.start(type, input, { ...acting(scene), ...each(names, look) });
      const toldMs = STARTS_MS + 2.51 * HOUR_MS;
      scene.at(toldMs, () => void scene.tell());
      await scene.until(STARTS_MS + 3 * HOUR_MS);
      expect(looks.length).toBeLessThan(500);
      expect((looks.find((atMs) => atMs > toldMs) ?? Infinity) - toldMs).toBeLessThan(10_000);
    }
  },
);

test.each([
  ["reads payments", WORKFLOW.payRun, { runId: "run" }, "reviewRun", { ...RUN, toFollow: 1 }],
  [
    "makes a deposit",
    WORKFLOW.fundingIncident,
    { business: "acme", sourceId: "balance" },
    "reviewIncident",
    { ...LOOK, phase: "topping-up", outcome: null, toDeposit: true },
  ],
] as const)(
  "a workflow that %s at a slow service still reacts to signals, and starts no activity twice: %s",
  async (_, type, input, look, standing) => {
    const scene = new Scene(STARTS_MS);
    const looks: number[] = [];
    let atOnce = 0;
    let most = 0;
    const slow = async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await scene.takes(20 * 60_000);
      atOnce -= 1;
      return { changed: 1 };
    };
    scene.start(type, input, {
      ...acting(scene),
      ...{ followPayments: slow, makeDeposits: slow },
      [look]: () => {
        looks.push(scene.nowMs);
        return standing;
      },
    });
    const toldMs = STARTS_MS + 5 * 60_000;
    scene.at(toldMs, () => void scene.tell());
    await scene.until(STARTS_MS + HOUR_MS);
    expect((looks.find((atMs) => atMs > toldMs) ?? Infinity) - toldMs).toBeLessThan(10_000);
    expect(most).toBe(1);
  },
);
