import { expect } from "vitest";
import { holdForLoss } from "../../../src/store/janitor/behind.ts";
import { listHolds, releaseHold } from "../../../src/store/holds/holds.ts";
import { explainIn } from "../explain.ts";
import { type MoneyWorld, test } from "../money-world.ts";

const MINUTE_MS = 60_000;

/** Notices a loss of the store, and releases the hold that it causes. */
async function restored(world: MoneyWorld): Promise<void> {
  const { store, businessId } = world;
  const { serviceMs, businessMs } = await world.context().clockOf("acme").now();
  await store.transaction(async (trx) => {
    await holdForLoss(trx, { businessId, evidence: "a test", hadItAtMs: 1, serviceMs, businessMs });
  });
  const [hold] = await listHolds(store.db, { businessId, nowMs: 0 });
  await store.transaction((trx) => releaseHold(trx, hold?.holdId ?? "", "olga", Date.now()));
}

test("a bill that a restored store doesn't send yet says until when and why, and is paid then", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await restored(world);
  const waits =
    /^1 bill waiting until \w+, \w+ \d+, \d+:\d\d [AP]M New York, because the store was restored/;
  await world.pay(runId);
  expect(await world.paymentsOf(payableId)).toEqual([]);
  expect((await world.assess(runId)).waitingFor).toMatch(waits);
  expect((await explainIn(world, payableId)).text).toMatch(
    /has not been sent yet: The store was restored\. Payrun sends nothing until .* New York: a lookup/,
  );
  await world.world.pass(10 * MINUTE_MS);
  expect((await world.assess(runId)).waitingFor).toMatch(/^1 bill being paid/);
  await world.pay(runId);
  expect(await world.paymentsOf(payableId)).toHaveLength(1);
});
