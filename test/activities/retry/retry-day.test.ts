import { describe, expect } from "vitest";
import { WEEKDAYS } from "../../../src/contracts/playbook.ts";
import { addBankingDays } from "../../../src/domain/clock/bank-calendar.ts";
import { addDays, isoWeekday } from "../../../src/domain/clock/dates.ts";
import { newYorkDate, newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import { getRetry } from "../../../src/store/retries/retries.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { dueRetry, test } from "../retry-world.ts";

/** Advances the bank's clock to an instant in New York. */
async function atNewYork(world: MoneyWorld, date: string, time: string): Promise<void> {
  const { businessMs } = await world.context().clockOf("acme").now();
  const seconds = Math.round((newYorkInstantMs(date, time) - businessMs) / 1_000);
  await world.control.advance(`PT${seconds}S`);
}

async function scheduledDays(world: MoneyWorld, payableId: string): Promise<string[]> {
  const { payments } = world.context().clientOf("acme");
  const shown = await payments.listAll({ payableId });
  return shown.map(({ scheduledAt }) => newYorkDate(Date.parse(scheduledAt ?? "")));
}

/** Creates a failed bill whose retry is announced for a weekday three banking days away. */
async function announced(world: MoneyWorld): Promise<PlannedBills & { readonly day: string }> {
  const { businessMs } = await world.context().clockOf("acme").now();
  // The payment fails nine days from now.
  const failsOn = addDays(newYorkDate(businessMs), 9);
  const weekday = WEEKDAYS[isoWeekday(addBankingDays(failsOn, 3)) - 1];
  await world.failurePlaybook(`kind: retry-failed\nrules: [{ match: [R01], retry: ${weekday} }]\n`);
  const planned = await dueRetry(world);
  return { ...planned, day: await dayOf(world, planned.payableId) };
}

async function dayOf(world: MoneyWorld, payableId: string): Promise<string> {
  return (await getRetry(world.store.db, world.businessId, payableId))?.retryOn ?? "";
}

describe("the day of a retry", () => {
  test("a retry runs on its announced day: its request is made the banking day before", async ({
    world,
  }) => {
    const { runId, payableId, day } = await announced(world);
    const before = addBankingDays(day, -1);
    expect((await world.line(runId, payableId)).reason).toContain(`again on ${day}`);
    await atNewYork(world, addDays(before, -1), "23:30");
    const waiting = await world.look(payableId);
    expect(waiting.phase).toBe("waiting");
    // It wakes by itself as soon as its request may name that day.
    expect(waiting.wakeInMs).toBeGreaterThan(25 * 60_000);
    expect(waiting.wakeInMs).toBeLessThan(35 * 60_000);
    await atNewYork(world, before, "00:30");
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    expect(await scheduledDays(world, payableId)).toContain(day);
  });

  test("a retry that missed its day is announced for the next one and runs on no other", async ({
    world,
  }) => {
    const { runId, payableId, day } = await announced(world);
    await atNewYork(world, addBankingDays(day, -1), "23:30");
    expect((await world.look(payableId)).phase).toBe("pay");
    await atNewYork(world, day, "00:30");
    await world.retry(payableId);
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect((await world.look(payableId)).phase).toBe("waiting");
    const next = await dayOf(world, payableId);
    expect(next > addDays(day, 3)).toBe(true);
    expect((await world.line(runId, payableId)).reason).toContain(`again on ${next}`);
  });

  test("a retry is made until day 180 after the first settlement, counted on the day on which it runs", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const runsOn = await dayOf(world, payableId);
    const { payments } = world.context().clientOf("acme");
    const shown = await payments.listAll({ payableId });
    const settledDaysBefore = (days: number): void => {
      const scheduledAt = addDays(runsOn, -days);
      const first = shown.map((payment) => ({ ...payment, scheduledAt }));
      world.override = { listAll: () => Promise.resolve(first) };
    };
    settledDaysBefore(180);
    expect((await world.look(payableId)).phase).toBe("pay");
    settledDaysBefore(181);
    expect((await world.look(payableId)).phase).toBe("parked");
    expect((await world.line(runId, payableId)).reason).toMatch(/180 days/);
  });
});
