import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { verifyRun } from "../../activities/verify-run.ts";
import { fundRun } from "../../activities/fund-run.ts";
import { markRead, READ_SINGLY } from "../../src/store/verified-lines.ts";
import { MoneyWorld, type PlannedBills } from "./money-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  world.override = {};
});

/** A run whose lines wait to be paid, unread. */
async function fundedRun(bills: number): Promise<PlannedBills> {
  const planned = await world.approvedRun(
    Array.from({ length: bills }, (_, index) => ({ totalAmountCents: 10_000 + index })),
  );
  await world.assess(planned.runId);
  await fundRun(world.context(), planned.runId);
  return planned;
}

async function readAt(runId: string, payableIds: readonly string[]): Promise<number[]> {
  const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
  return lines.map((line) => line.verifiedAtMs);
}

test("lines that are as approved are read by page, whatever else the service lists", async () => {
  const { runId, payableIds } = await fundedRun(3);
  await world.control.createPayable({
    contactId: "v2",
    status: "approved",
    totalAmountCents: 1,
    dueDate: "2030-01-01",
  });
  const { serviceMs } = await world.context().clockOf("acme").now();
  expect(await verifyRun(world.context(), runId)).toEqual({ verified: 3 });
  for (const at of await readAt(runId, payableIds)) {
    expect(at).toBeGreaterThanOrEqual(Math.floor(serviceMs) - 1_000);
  }
  // Read a moment ago: nothing is left to read.
  expect(await verifyRun(world.context(), runId)).toEqual({ verified: 0 });
});

test("a bill that was changed, declined or paid in part since is left to be read singly, and the others are not", async () => {
  const { runId, payableIds } = await fundedRun(4);
  const [changed = "", declined = "", paid = "", same = ""] = payableIds;
  await world.control.changePayable(changed, { totalAmountCents: 99_999 });
  await world.control.changePayable(declined, { status: "declined" });
  await world.control.payOutside(paid, 5_000);
  expect(await verifyRun(world.context(), runId)).toEqual({ verified: 1 });
  const [ofChanged, ofDeclined, ofPaid, ofSame] = await readAt(runId, [
    changed,
    declined,
    paid,
    same,
  ]);
  expect([ofChanged, ofDeclined, ofPaid]).toEqual([READ_SINGLY, READ_SINGLY, READ_SINGLY]);
  expect(ofSame).toBeGreaterThan(READ_SINGLY);
});

test("lines whose vendor has another account now, or is not listed any more, are left to be read singly", async () => {
  const { runId, payableIds } = await fundedRun(2);
  await world.control.changeContact("v1", { bankAccount: { last4: "9999" } });
  expect(await verifyRun(world.context(), runId)).toEqual({ verified: 0 });
  expect(await readAt(runId, payableIds)).toEqual([READ_SINGLY, READ_SINGLY]);
});

test("a line that was planned anew since it was compared stays unread", async () => {
  const { runId, payableId } = await fundedRun(1);
  const { lineHash } = await world.line(runId, payableId);
  const read = { payableId, verifiedAtMs: 5_000, knownPaymentIds: [] };
  await world.store.transaction(async (trx) => {
    await markRead(trx, runId, [{ ...read, lineHash: "of an earlier plan" }]);
  });
  expect(await readAt(runId, [payableId])).toEqual([0]);
  await world.store.transaction((trx) => markRead(trx, runId, [{ ...read, lineHash }]));
  expect(await readAt(runId, [payableId])).toEqual([5_000]);
});
