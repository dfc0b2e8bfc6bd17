import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freeze } from "../support/freeze.ts";
import { isLong } from "../support/long.ts";
import { startPayrun, type TestPayrun } from "../support/payrun.ts";
import type { FaultRule } from "../support/sandbox.ts";
import { ended, expectBank, plannedScene, type Scene, standing } from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { storeKinds, storePlace } from "../support/store-kinds.ts";

const BILLS = 400;
const PAY = { method: "POST", path: "/v1/payments" } as const;

/** Milliseconds that the service is slow at least. */
const SLOW_MS = 100_000;
/**
 * The service is slow until so many requests have been written, some without a response, however
 * busy the machine is.
 */
const SENT_MEANWHILE = 160;
/** Milliseconds that a worker is frozen and awake in turn. */
const FROZEN_MS = 17_000;
const AWAKE_MS = 4_000;

/** A request that is cut off is carried out this much later, before or after its key is claimed. */
const LATE_MS = 30_000;

/** A conclusive lookup begins eight minutes after the mark of an unanswered request. */
const CONCLUSIVE = "PT9M";
/** A used-up key needs two of them; some lines wait for more. */
const CONCLUSIVE_LOOKS = 6;

const UNSENT = ["planned", "paying", "unknown"] as const;

const SLOW: readonly FaultRule[] = [
  // The first requests are answered at once; then the service gets slow.
  ...(["before", "during", "after"] as const).map((when): FaultRule => ({
    ...PAY,
    when,
    effect: "delay",
    delayMs: 0,
    times: BILLS / 4,
  })),
  { ...PAY, when: "before", effect: "status", status: 429, retryAfter: 2, times: 6 },
  { ...PAY, when: "before", effect: "late", delayMs: LATE_MS, probability: 0.12 },
  // Then some die: their keys are used up without a payment.
  { ...PAY, when: "during", effect: "drop", times: 6 },
  { ...PAY, when: "during", effect: "late", delayMs: LATE_MS, probability: 0.15 },
  { ...PAY, when: "after", effect: "delay", delayMs: 9_000 },
  ...["/v1/payments", "/v1/payables", "/v1/payables/*", "/v1/contacts", "/v1/contacts/*"].map(
    (path): FaultRule => ({ method: "GET", path, when: "before", effect: "delay", delayMs: 2_000 }),
  ),
];

/** Returns how many requests of the run had each result. */
async function results(payrun: TestPayrun, { runId }: Scene): Promise<Record<string, number>> {
  const rows = await payrun.store.db
    .selectFrom("sends")
    .select((eb) => ["result", eb.fn.countAll().as("count")])
    .where("owner", "=", runId)
    .groupBy("result")
    .execute();
  return Object.fromEntries(rows.map(({ result, count }) => [result, Number(count)]));
}

/** Freezes a worker again and again for longer than a request may take to leave. */
async function freezeAgainAndAgain(
  payrun: TestPayrun,
  scene: Scene,
  worker: ChildProcess,
): Promise<void> {
  const untilMs = Date.now() + SLOW_MS;
  const isEnough = async (): Promise<boolean> => {
    const found = await results(payrun, scene);
    const sent = Object.values(found).reduce((sum, count) => sum + count, 0);
    return sent >= SENT_MEANWHILE && (found["unknown"] ?? 0) > 0;
  };
  while (Date.now() < untilMs || !(await isEnough())) {
    await freeze(payrun, worker);
    await sleep(FROZEN_MS);
    worker.kill("SIGCONT");
    await sleep(AWAKE_MS);
  }
}

/** Advances time until unanswered requests can have no more effect and no line waits. */
async function lookToTheEnd(payrun: TestPayrun, scene: Scene): Promise<void> {
  for (let looks = 0; looks < CONCLUSIVE_LOOKS; looks += 1) {
    // A request under way must not find that minutes have passed.
    await expect.poll(async () => (await results(payrun, scene))["pending"] ?? 0).toBe(0);
    await payrun.sandbox.control.advanceWire(CONCLUSIVE);
    await sleep(20_000);
    const { counts } = await payrun.status(scene.runId);
    if (UNSENT.every((state) => (counts[state] ?? 0) === 0)) return;
  }
}

describe.runIf(isLong).each(storeKinds("sqlite"))("on a store in %s,", (kind) => {
  let payrun: TestPayrun;
  let stop = async (): Promise<void> => undefined;

  beforeAll(async () => {
    const place = await storePlace(kind);
    stop = place.stop;
    payrun = await startPayrun(place.options);
    await payrun.startWorker();
  });
  afterAll(async () => {
    await payrun?.stop();
    await stop();
  });

  test(
    "a service that gets slow during 400 bills, and a worker that freezes, pay each bill once",
    { timeout: 900_000 },
    async () => {
      const { control } = payrun.sandbox;
      const amounts = Array.from({ length: BILLS }, (_, index) => 100_00 + index);
      const scene = await plannedScene(payrun, "slow", amounts);
      await control.faults(SLOW);
      await approve(payrun, scene.runId);
      const [worker] = payrun.workers;
      if (worker === undefined) throw new Error("there is no worker to freeze");
      await freezeAgainAndAgain(payrun, scene, worker);
      await control.faults([]);
      await sleep(LATE_MS + 5_000);
      await lookToTheEnd(payrun, scene);
      const done = await ended(payrun, scene.runId);
      await expectBank(
        payrun,
        scene.made.map((bill) => [bill, bill.amountCents]),
      );
      expect(standing(done)).toEqual({ settled: BILLS });
      // Some answers never came, and some keys were used up without a payment.
      expect(Object.keys(await results(payrun, scene))).toEqual(
        expect.arrayContaining(["applied", "conflict", "refused", "unconfirmed", "unknown"]),
      );
    },
  );
});
