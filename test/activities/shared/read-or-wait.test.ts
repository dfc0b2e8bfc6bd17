import { expect } from "vitest";
import { readOrWait } from "../../../activities/shared/read-or-wait.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";
import { listWaits, setWait } from "../../../src/store/runs/waits.ts";
import { test } from "../money-world.ts";

test("a successful read keeps a pause that was requested after the read began", async ({
  world,
}) => {
  const { businessId, store } = world;
  const context = world.context();
  const { serviceMs: nowMs, realMs } = await context.clockOf("acme").now();
  const wait = {
    businessId,
    sourceId: "",
    code: "rate_limited" as const,
    message: "slow down",
    realMs,
  };
  const pause = (retryAtMs: number) =>
    store.transactionOf(businessId, (trx) => setWait(trx, { ...wait, nowMs, retryAtMs }));
  const codes = async () => (await listWaits(store.db, businessId)).map(({ code }) => code);
  const run = { business: "acme", businessId };

  await pause(nowMs - 1_000);
  await readOrWait(context, run, () => pause(nowMs + 120_000));
  expect(await codes()).toEqual(["rate_limited"]);

  await store.db.updateTable("business_waits").set({ retry_at_ms: nowMs }).execute();
  await readOrWait(context, run, () => Promise.resolve());
  expect(await codes()).toEqual([]);
});

test("a service that was away for hours is tried again within two minutes", async ({ world }) => {
  const { businessId } = world;
  const context = world.context();
  const away = new PaymentsApiError({
    ...{ code: "no_answer", status: undefined, outcome: "not_applied", message: "reset" },
    ...{ method: "GET", path: "/v1/payables" },
  });
  const run = { business: "acme", businessId };
  for (let tries = 0; tries < 20; tries += 1) {
    await world.store.db.updateTable("business_waits").set({ retry_at_ms: 0 }).execute();
    await readOrWait(context, run, () => Promise.reject<undefined>(away));
  }
  const { serviceMs } = await context.clockOf("acme").now();
  const [wait] = await listWaits(world.store.db, businessId);
  expect(wait?.tries).toBeGreaterThan(10);
  expect((wait?.retryAtMs ?? Infinity) - serviceMs).toBeLessThanOrEqual(120_000);
});
