import { expect } from "vitest";
import { retryFailedPaymentId } from "../../../src/contracts/workflow-kinds.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { listedPage } from "../../../src/store/listed/listed.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getRetry, updateRetry } from "../../../src/store/retries/retries.ts";
import { clockAt } from "../../../src/store/sql/clocks.ts";
import { confirmRecords } from "../confirm-records.ts";
import type { MoneyWorld, PlannedBills } from "../money-world.ts";
import { dueRetry, test } from "../retry-world.ts";

const HOUR_MS = 3_600_000;

/** A failed bill about whose vendor's record the gate has asked. */
async function askedRetry(world: MoneyWorld): Promise<PlannedBills> {
  const planned = await dueRetry(world);
  await world.control.changeContact("v1", { phone: "+1 646 555 0199" });
  await world.retry(planned.payableId);
  return planned;
}

test("a retry whose vendor's record was changed sleeps until the word about it wakes it, and then pays", async ({
  world,
}) => {
  const { runId, payableId } = await askedRetry(world);
  const asked = await world.line(runId, payableId);
  expect(asked).toMatchObject({ state: "retrying", reasonCode: "changed_record" });
  const waiting = await world.look(payableId);
  expect(waiting).toMatchObject({
    ...{ phase: "waiting", waitingFor: expect.stringContaining("a word") as string },
  });
  expect(waiting.wakeInMs).toBeGreaterThan(HOUR_MS);
  await world.takeSignals();
  await confirmRecords(world, runId);
  expect(await world.takeSignals()).toContain(retryFailedPaymentId("acme", payableId));
  expect((await world.look(payableId)).phase).toBe("pay");
  await world.retry(payableId);
  expect(await world.paymentsOf(payableId)).toHaveLength(2);
});

test("a run whose retry waits for a word about a record says so, and is listed among those that need action", async ({
  world,
}) => {
  const { runId } = await askedRetry(world);
  const assessed = await world.assess(runId);
  expect(assessed).toMatchObject({ needsAction: true });
  expect(assessed.waitingFor).toContain("1 bill waiting after a failure for a word");
  const known = { businessIds: [world.businessId], clock: clockAt(Date.now()), left: [] };
  const asked = { ...known, kind: "pay-run", needsAction: true } as const;
  const listed = await listedPage(world.store.db, asked, { page: 1, pageSize: 10 });
  expect(listed.ids.map(({ id }) => id)).toEqual([runId]);
  const [notice] = await listNotices(world.store.db, { kind: "changed-record", limit: 1 });
  expect(notice?.text).toContain(`payrun approve ${runId} --same-account all`);
});

test("a retry that waits for a word keeps its question when its day passes", async ({ world }) => {
  const { runId, payableId } = await askedRetry(world);
  const { reason } = await world.line(runId, payableId);
  const subject = { businessId: world.businessId, payableId };
  const day = (await getRetry(world.store.db, world.businessId, payableId))?.retryOn ?? "";
  await updateRetry(world.store.db, subject, { retryOn: addDays(day, -1) }, Date.now());
  expect((await world.look(payableId)).phase).toBe("waiting");
  expect(await world.line(runId, payableId)).toMatchObject({ reason });
});

test("a parked bill that was asked about doesn't ask again once the word was given and it is retried", async ({
  world,
}) => {
  const { runId, payableId } = await dueRetry(world);
  const other = await world.approvedRun([{}]);
  await world.control.changeContact("v1", { phone: "+1 646 555 0199" });
  await world.retry(payableId);
  await world.pay(other.runId);
  await changeLine(world.store.db, { runId, payableId }, { state: "parked" }, Date.now());
  await confirmRecords(world, other.runId);
  expect(await world.line(runId, payableId)).toMatchObject({
    ...{ state: "parked", recordAsked: null },
  });
});
