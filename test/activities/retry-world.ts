import { expect } from "vitest";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { handOverClaim } from "../../src/store/payables/claims.ts";
import { requestRetry } from "../../src/store/retries/retries.ts";
import { NEXT_DAY_RETRIES } from "../support/next-day-retries.ts";
import { type MoneyWorld, type PlannedBills, test as moneyTest } from "./money-world.ts";

/**
 * Creates a bill of $100, or a part of it, whose first payment failed with the bank's return code.
 * After R01 the request of the next try is due for the next banking day; after other codes the bill
 * is parked.
 */
export async function dueRetry(
  world: MoneyWorld,
  code = "R01",
  partCents: number | null = null,
): Promise<PlannedBills> {
  const planned = await world.plannedRun([{}], {}, partCents);
  const { runId, payableId } = planned;
  await world.approve(runId);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code, times: 1 });
  await world.pay(runId);
  await world.control.advance("P9D");
  expect(await world.follow(runId)).toBe(1);
  expect(world.told).toContain(retryFailedPaymentId("acme", payableId));
  expect((await world.look(payableId)).phase).toBe(code === "R01" ? "waiting" : "parked");
  return planned;
}

/** Each test's world, in which failed payments are retried on the next day by default. */
export const test = moneyTest.extend("world", async ({ world }) => {
  await world.failurePlaybook(NEXT_DAY_RETRIES);
  return world;
});

/** Does in the store what `resolve --retry` does. */
export async function askForRetry(
  { store, businessId }: MoneyWorld,
  { runId, payableId }: Pick<PlannedBills, "runId" | "payableId">,
): Promise<void> {
  const workflowId = retryFailedPaymentId("acme", payableId);
  await handOverClaim(store.db, { businessId, payableId, from: runId, to: workflowId });
  const asked = { businessId, payableId, business: "acme", workflowId, runId };
  const request = { ...asked, by: "olga", nowMs: Date.now() };
  await store.transaction((trx) => requestRetry(trx, request));
}
