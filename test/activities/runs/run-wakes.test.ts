import { describe, expect } from "vitest";
import { createHold } from "../../../src/store/holds/holds.ts";
import { test } from "../money-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe("when a run wakes", () => {
  test("a run wakes when the hold on its bills ends", async ({ world }) => {
    const { runId } = await world.approvedRun([{}]);
    const { businessMs } = await world.context().clockOf("acme").now();
    const untilMs = Math.floor(businessMs + 6 * HOUR_MS);
    const of = { businessId: world.businessId, scope: "run", value: runId } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...of, reason: "Call.", author: "olga", untilMs, nowMs: Date.now() }),
    );
    const { waitingFor, wakeInMs } = await world.assess(runId);
    expect(waitingFor).toBe("1 bill on hold");
    expect(wakeInMs).toBeGreaterThan(6 * HOUR_MS - 5 * MINUTE_MS);
    expect(wakeInMs).toBeLessThan(6 * HOUR_MS + MINUTE_MS);
  });

  test("a run wakes when the approval of bills on hold expires", async ({ world }) => {
    const { runId } = await world.plannedRun([{}]);
    await world.approve(runId, 2 * DAY_MS);
    const of = { businessId: world.businessId, scope: "run", value: runId } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...of, reason: "Call.", author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    const { wakeInMs } = await world.assess(runId);
    expect(wakeInMs).toBeGreaterThan(DAY_MS);
    expect(wakeInMs).toBeLessThan(2 * DAY_MS + MINUTE_MS);
  });

  test("a run wakes when the time to approve is over", async ({ world }) => {
    const { runId } = await world.plannedRun([{}], { approvalValidDays: 2 });
    const { wakeInMs } = await world.assess(runId);
    expect(wakeInMs).toBeGreaterThan(DAY_MS);
    expect(wakeInMs).toBeLessThan(2 * DAY_MS + MINUTE_MS);
  });
});
