import { expect, test } from "vitest";
import {
  getRetry,
  getRetryByWorkflowId,
  requestRetry,
  updateRetry,
  upsertRetry,
} from "../../../src/store/retries/retries.ts";
import { testStore } from "../support.ts";

const key = { businessId: "biz_1", payableId: "pay_1" };
const retry = {
  ...key,
  business: "acme",
  workflowId: "retry/acme/pay_1",
  runId: "run_1",
  nowMs: 5,
};

test("a payable has one record of its retries, which keeps what has been done", async () => {
  const { store } = await testStore();
  expect(await upsertRetry(store.db, retry)).toMatchObject({
    ...key,
    phase: "planning",
    retriesMade: 0,
    handledPaymentIds: [],
    requested: null,
    look: false,
    startedAtMs: 5,
  });
  const change = {
    retriesMade: 1,
    handledPaymentIds: ["p1"],
    retryOn: "2026-11-06",
    reason: "R01",
  };
  expect(await updateRetry(store.db, key, change, 6)).toBe(true);
  expect(await updateRetry(store.db, { ...key, payableId: "pay_9" }, change, 6)).toBe(false);
  const again = await upsertRetry(store.db, { ...retry, runId: "run_2", nowMs: 9 });
  expect(again).toMatchObject({ ...change, runId: "run_2", startedAtMs: 5 });
  expect((await upsertRetry(store.db, { ...retry, runId: null })).runId).toBe("run_2");
  expect(await getRetryByWorkflowId(store.db, retry.workflowId)).toMatchObject(change);
});

test("a person's request stays in the record until it is acted on", async () => {
  const { store } = await testStore();
  const ask = (changes: { by: string; runId?: null; nowMs?: number }) =>
    store.transaction((trx) => requestRetry(trx, { ...retry, ...changes }));
  expect(await ask({ by: "otto" })).toMatchObject({
    requested: "retry",
    requestedBy: "otto",
    look: true,
  });
  await updateRetry(store.db, key, { requested: null, look: false, phase: "paying" }, 7);
  expect(await getRetry(store.db, "biz_1", "pay_1")).toMatchObject({
    requested: null,
    requestedBy: null,
    look: false,
  });
  expect(await ask({ runId: null, by: "olga", nowMs: 8 })).toMatchObject({
    requestedBy: "olga",
    runId: "run_1",
    phase: "paying",
    updatedAtMs: 8,
  });
});

test("acting on a person's request leaves a later request", async () => {
  const { store } = await testStore();
  const ask = (by: string) => store.transaction((trx) => requestRetry(trx, { ...retry, by }));
  const first = await ask("otto");
  await ask("olga");
  await updateRetry(store.db, key, { phase: "parked", actedOn: first.requestNo }, 7);
  const kept = await getRetry(store.db, "biz_1", "pay_1");
  expect(kept).toMatchObject({ phase: "parked", requested: "retry", requestedBy: "olga" });
  await updateRetry(store.db, key, { phase: "parked", actedOn: kept?.requestNo ?? 0 }, 8);
  expect(await getRetry(store.db, "biz_1", "pay_1")).toMatchObject({
    requested: null,
    requestedBy: null,
  });
});
