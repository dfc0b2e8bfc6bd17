import { expect } from "vitest";
import { choosePayments } from "../../../activities/cancel/choose-payments.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import { flagLooks } from "../../../src/store/payables/subscriptions.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { netCreditByPayable } from "../../support/sandbox.ts";
import { NEXT_DAY_RETRIES } from "../../support/next-day-retries.ts";
import { type CancelWorld, test } from "../cancel-world.ts";
import type { MoneyWorld } from "../money-world.ts";
import { dueRetry } from "../retry-world.ts";

test.beforeEach(({ world }) => world.failurePlaybook(NEXT_DAY_RETRIES));

/** At 8:40 New York on the day of the payment, changes the vendor's account and flags the bill. */
async function changesAt840(
  world: MoneyWorld,
  { runId, payableId }: { runId: string; payableId: string },
) {
  const { executionDate } = await world.line(runId, payableId);
  await world.control.setClock(new Date(newYorkInstantMs(executionDate, "08:40")).toISOString());
  await world.control.changeContact("v1", {
    bankAccount: { accountNumber: "000999998888", routingNumber: "021000021" },
  });
  const { businessId } = world;
  const payableIds = [payableId];
  await world.store.transaction((trx) => flagLooks(trx, { businessId, payableIds }));
}

/** Checks that the cancellation that was started ends before 9:00 and the bank pays nobody. */
async function isStopped(cancels: CancelWorld, payableId: string): Promise<void> {
  const id = cancels.money.told.find((told) => told.startsWith("cancel-scheduled-payments/"));
  expect(id).toContain("payee_changed_after_approval");
  await choosePayments(cancels.money.context(), id ?? "");
  expect(await cancels.turns(id ?? "")).toMatchObject({ ended: true });
  expect((await cancels.money.paymentsOf(payableId)).at(0)).toMatchObject({ status: "cancelled" });
  expect(await cancels.money.holds()).toContainEqual(
    expect.objectContaining({ scope: "contact", value: "v1", author: "payrun" }),
  );
}

async function paidCents(world: MoneyWorld, payableId: string): Promise<number> {
  await world.control.advance("P9D");
  return netCreditByPayable(await world.control.ledger()).get(payableId) ?? 0;
}

test("a vendor's bank account that changes at 8:40 stops a run's payment scheduled for 9:00", async ({
  cancels,
  world,
}) => {
  const planned = await world.approvedRun([{}]);
  const { runId, payableId } = planned;
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
  await changesAt840(world, planned);
  expect(await world.assess(runId)).toMatchObject({ toFollow: 1 });
  await world.follow(runId);
  await isStopped(cancels, payableId);
  await world.follow(runId);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "cancelled",
    reasonCode: "payee_changed_after_approval",
    reason: expect.stringMatching(/••8888 .*by phone\. The payment was cancelled\.$/),
  });
  for (const { reason } of await world.holds()) expect(reason).not.toContain("still allows it");
  expect(await paidCents(world, payableId)).toBe(0);
});

test("a second change of the bank account before the payment is cancelled causes a second notice", async ({
  cancels,
  world,
}) => {
  const planned = await world.approvedRun([{}]);
  const { runId, payableId } = planned;
  await world.pay(runId);
  await changesAt840(world, planned);
  await world.follow(runId);
  await world.control.changeContact("v1", {
    bankAccount: { accountNumber: "000999997777", routingNumber: "021000021" },
  });
  const { businessId } = world;
  await world.store.transaction((trx) => flagLooks(trx, { businessId, payableIds: [payableId] }));
  await world.follow(runId);
  await world.follow(runId);
  const told = await listNotices(world.store.db, { runId, kind: "payment-in-doubt", limit: 9 });
  const accounts = told.map(({ text }) => /to ••(\d+)/.exec(text)?.[1]);
  expect(new Set(accounts)).toEqual(new Set(["8888", "7777"]));
  expect(told).toHaveLength(2);
  await isStopped(cancels, payableId);
});

test("a payment that people released is cancelled if the vendor's bank account changes once more", async ({
  cancels,
  world,
}) => {
  const planned = await world.approvedRun([{}]);
  const { runId, payableId } = planned;
  await world.pay(runId);
  await changesAt840(world, planned);
  await world.follow(runId);
  const first = world.told.find((told) => told.startsWith("cancel-scheduled-payments/")) ?? "";
  await choosePayments(world.context(), first);
  const { db } = world.store;
  await db.updateTable("holds").set({ released_at_ms: Date.now(), released_by: "olga" }).execute();
  expect(await cancels.turns(first)).toMatchObject({ ended: true });
  expect(await cancels.shown(first)).toEqual([expect.stringMatching(/ released$/)]);
  world.told.length = 0;
  await world.control.changeContact("v1", {
    bankAccount: { accountNumber: "000999997777", routingNumber: "021000021" },
  });
  const { businessId } = world;
  await world.store.transaction((trx) => flagLooks(trx, { businessId, payableIds: [payableId] }));
  await world.follow(runId);
  await isStopped(cancels, payableId);
  expect(await paidCents(world, payableId)).toBe(0);
});

test("a vendor's bank account that changes at 8:40 stops a retry scheduled for 9:00", async ({
  cancels,
  world,
}) => {
  const planned = await dueRetry(world);
  const { runId, payableId } = planned;
  for (let days = 0; (await world.look(payableId)).phase !== "pay"; days += 1) {
    expect(days).toBeLessThan(9);
    await world.control.advance("P1D");
  }
  await world.retry(payableId);
  expect((await world.look(payableId)).waitingFor).toContain("scheduled");
  await changesAt840(world, planned);
  await world.look(payableId);
  await isStopped(cancels, payableId);
  expect(await world.look(payableId)).toMatchObject({ phase: "ended", outcome: "cancelled" });
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "cancelled",
    reasonCode: "payee_changed_after_approval",
    reason: expect.stringContaining("••8888"),
  });
  expect(await paidCents(world, payableId)).toBe(0);
});
