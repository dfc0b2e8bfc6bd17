import { describe, expect } from "vitest";
import { nextBankMorningMs } from "../../../src/domain/payments/poll-times.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import type { MoneyWorld } from "../money-world.ts";
import { dueRetry, test } from "../retry-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

async function businessMsOf(world: MoneyWorld): Promise<number> {
  return (await world.context().clockOf("acme").now()).businessMs;
}

/** Returns the milliseconds that the owner of a failed bill sleeps unless it is signaled. */
async function sleepOf(world: MoneyWorld, payableId: string): Promise<number> {
  const { wakeInMs } = await world.look(payableId);
  return wakeInMs;
}

describe("when the owner of a failed bill wakes", () => {
  test("a retry wakes each banking morning while it waits for the vendor's account to change", async ({
    world,
  }) => {
    await world.failurePlaybook(
      "kind: retry-failed\nrules: [{ match: [R03], hold: vendor, payAgain: when-bank-account-changed, by: [controller] }]\n",
    );
    const { payableId } = await dueRetry(world, "R03");
    const businessMs = await businessMsOf(world);
    const leftMs = nextBankMorningMs(businessMs) - businessMs;
    const sleepMs = await sleepOf(world, payableId);
    expect(sleepMs).toBeLessThan(leftMs + MINUTE_MS);
    expect(sleepMs).toBeGreaterThan(leftMs - 5 * MINUTE_MS);
  });

  test("a retry that a hold keeps back wakes each banking morning, and ends if its bill was paid elsewhere", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const of = { businessId: world.businessId, scope: "contact", value: "v1" } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...of, reason: "Call.", author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    const businessMs = await businessMsOf(world);
    const leftMs = nextBankMorningMs(businessMs) - businessMs;
    const { waitingFor, wakeInMs } = await world.look(payableId);
    expect(waitingFor).toBe("on hold");
    expect(wakeInMs).toBeLessThan(leftMs + MINUTE_MS);
    expect(wakeInMs).toBeGreaterThan(leftMs - 5 * MINUTE_MS);
    await world.control.payOutside(payableId);
    expect(await world.look(payableId)).toMatchObject({
      phase: "ended",
      outcome: "paid elsewhere",
    });
    expect((await world.line(runId, payableId)).state).toBe("paid-elsewhere");
  });

  test("a retry wakes when the bill is to be given up", async ({ world }) => {
    await world.failurePlaybook(
      "kind: retry-failed\nrules: [{ match: [R10], ask: [operator] }]\ngiveUp: { after: 3 days }\n",
    );
    const { payableId } = await dueRetry(world, "R10");
    const sleepMs = await sleepOf(world, payableId);
    expect(sleepMs).toBeGreaterThan(2 * DAY_MS);
    expect(sleepMs).toBeLessThanOrEqual(3 * DAY_MS);
  });

  test("a retry wakes when the hold on it ends", async ({ world }) => {
    const { payableId } = await dueRetry(world);
    const untilMs = Math.floor((await businessMsOf(world)) + 6 * HOUR_MS);
    const of = { businessId: world.businessId, scope: "contact", value: "v1" } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...of, reason: "Call.", author: "olga", untilMs, nowMs: Date.now() }),
    );
    const sleepMs = await sleepOf(world, payableId);
    expect(sleepMs).toBeGreaterThan(6 * HOUR_MS - 5 * MINUTE_MS);
    expect(sleepMs).toBeLessThan(6 * HOUR_MS + MINUTE_MS);
  });
});
