import { describe, expect } from "vitest";
import { nextBankMorningMs } from "../../../src/domain/payments/poll-times.ts";
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
    await world.approve(runId, 6 * HOUR_MS);
    const of = { businessId: world.businessId, scope: "run", value: runId } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...of, reason: "Call.", author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    const { wakeInMs } = await world.assess(runId);
    expect(wakeInMs).toBeGreaterThan(6 * HOUR_MS - 5 * MINUTE_MS);
    expect(wakeInMs).toBeLessThan(6 * HOUR_MS + MINUTE_MS);
  });

  test("a run wakes when the time to approve is over", async ({ world }) => {
    const { runId } = await world.plannedRun([{}], { approvalValidDays: 2 });
    // Its bill would be read before then.
    await world.store.db
      .updateTable("run_lines")
      .set({ poll_at_ms: Number.MAX_SAFE_INTEGER })
      .execute();
    const { wakeInMs } = await world.assess(runId);
    expect(wakeInMs).toBeGreaterThan(DAY_MS);
    expect(wakeInMs).toBeLessThan(2 * DAY_MS + MINUTE_MS);
  });

  test("a run wakes each banking morning while one of its bills waits for a person", async ({
    world,
  }) => {
    const { runId, payableId } = await world.plannedRun([{}]);
    const { businessMs } = await world.context().clockOf("acme").now();
    const leftMs = nextBankMorningMs(businessMs) - businessMs;
    const waiting = await world.assess(runId);
    expect(waiting.wakeInMs).toBeGreaterThan(leftMs - 5 * MINUTE_MS);
    expect(waiting.wakeInMs).toBeLessThan(leftMs + MINUTE_MS);
    const of = { businessId: world.businessId, scope: "payable", value: payableId } as const;
    await world.store.transaction((trx) =>
      createHold(trx, { ...of, reason: "Call.", author: "olga", untilMs: null, nowMs: Date.now() }),
    );
    const held = await world.assess(runId);
    expect(held.waitingFor).toContain("on hold");
    expect(held.wakeInMs).toBeLessThan(leftMs + MINUTE_MS);
  });
});
