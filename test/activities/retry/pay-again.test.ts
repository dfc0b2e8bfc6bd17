import { describe, expect } from "vitest";
import { listWaits, setWait } from "../../../src/store/runs/waits.ts";
import { updateRetry } from "../../../src/store/retries/retries.ts";
import { dueRetry, test } from "../retry-world.ts";

describe("paying again in one activity", () => {
  test("a retry keeps the pause that the service asks for in its answer to the payment", async ({
    world,
  }) => {
    const { payableId } = await dueRetry(world);
    const { businessId, store } = world;
    const { serviceMs, realMs } = await world.context().clockOf("acme").now();
    const wait = {
      businessId,
      sourceId: "",
      code: "rate_limited" as const,
      message: "slow down",
      realMs,
    };
    const over = { nowMs: serviceMs - 2_000, retryAtMs: serviceMs - 1_000 };
    await store.transactionOf(businessId, (trx) => setWait(trx, { ...wait, ...over }));
    const slowDown = {
      kind: "http" as const,
      status: 429,
      body: { error: "rate_limited", message: "slow down" },
      bodyText: "",
      headersDateMs: undefined,
      retryAfterMs: 120_000,
    };
    world.override = { sendMoneyWrite: () => Promise.resolve(slowDown) };
    expect((await world.payAgain(payableId)).phase).toBe("waiting");
    const waits = await listWaits(store.db, businessId);
    expect(waits.map(({ code }) => code)).toEqual(["rate_limited"]);
    expect(waits[0]?.retryAtMs).toBeGreaterThan(serviceMs + 100_000);
  });

  test("a retry sends nothing if its last read shows a return code that ends the approval", async ({
    world,
  }) => {
    const { runId, payableId } = await dueRetry(world);
    const { payments } = world.context().clientOf("acme");
    let reads = 0;
    world.override = {
      listAll: async (query) => {
        reads += 1;
        const shown = await payments.listAll(query);
        if (reads === 1) return shown;
        return shown.map((each) => ({ ...each, failureReason: "R08 Payment stopped" }));
      },
    };
    expect((await world.payAgain(payableId)).phase).toBe("parked");
    world.override = {};
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
    expect((await world.line(runId, payableId)).reason).toContain("R08 ends its approval");
  });

  test("a retry sends nothing if another worker has parked the bill since the case was read", async ({
    world,
  }) => {
    const { payableId } = await dueRetry(world);
    const { businessId, store } = world;
    const { payables } = world.context().clientOf("acme");
    let reads = 0;
    world.override = {
      getPayable: async (id) => {
        reads += 1;
        const parked = { phase: "parked", retryOn: null };
        if (reads === 1) await updateRetry(store.db, { businessId, payableId }, parked, Date.now());
        return payables.get(id);
      },
    };
    expect((await world.payAgain(payableId)).phase).toBe("parked");
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });
});
