import { expect } from "vitest";
import { followPayments } from "../../../activities/runs/follow-payments.ts";
import { followedPayments } from "../../../activities/runs/followed-payments.ts";
import { reserveMoney } from "../../../activities/runs/reserve-money.ts";
import { type MoneyWorld, type PlannedBills, test } from "../money-world.ts";

/** More bills than are ever read one by one without counting pages first. */
const BILLS = 30;

/** Creates a run whose payments the service has scheduled for the next banking day. */
async function paidRun(world: MoneyWorld): Promise<PlannedBills> {
  const bills = Array.from({ length: BILLS }, (_, index) => ({
    totalAmountCents: 10_000 + index,
  }));
  const planned = await world.approvedRun(bills);
  await world.assess(planned.runId);
  await reserveMoney(world.context(), planned.runId);
  expect(await world.pay(planned.runId)).toMatchObject({ applied: BILLS });
  return planned;
}

/** Returns how often the list of payments is read for a look at all bills of a run. */
async function readsOfLook(world: MoneyWorld, { runId }: PlannedBills): Promise<number> {
  await world.store.db
    .updateTable("run_lines")
    .set({ look: 1 })
    .where("run_id", "=", runId)
    .execute();
  const before = (await world.control.requests()).length;
  await followPayments(world.context(), runId);
  const made = (await world.control.requests()).slice(before);
  return made.filter(({ method, path }) => method === "GET" && path === "/v1/payments").length;
}

async function states(
  world: MoneyWorld,
  { runId, payableIds }: PlannedBills,
): Promise<Record<string, number>> {
  const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
  const byState = Map.groupBy(lines, ({ state }) => state);
  return Object.fromEntries([...byState].map(([state, { length }]) => [state, length]));
}

test("a look at many bills reads only payments made since the run was planned", async ({
  world,
}) => {
  const run = await paidRun(world);
  const alone = await readsOfLook(world, run);
  expect(alone).toBeLessThan(5);
  await world.control.advance("P9D");
  await world.follow(run.runId);
  expect(await states(world, run)).toEqual({ settled: BILLS });
  // More pages than a look may read.
  for (let old = 0; old < 4; old += 1) await world.follow((await paidRun(world)).runId);
  await world.control.advance("P9D");
  const next = await paidRun(world);
  expect(await readsOfLook(world, next)).toBe(alone);
  await world.control.advance("P9D");
  await world.follow(next.runId);
  expect(await states(world, next)).toEqual({ settled: BILLS });
});

test("an external payment for one of many bills is seen, and an overpayment causes a notice", async ({
  world,
}) => {
  const run = await paidRun(world);
  const { runId, payableId } = run;
  await world.control.changePayable(payableId, { totalAmountCents: 50_000 });
  const { payments } = world.context().clientOf("acme");
  const byHand = { payableId, amountCents: 5_000, bankAccountId: "bank_main" };
  await payments.create(byHand, { idempotencyKey: "by-hand-1" });
  await world.follow(runId);
  const { reasonCode, reason } = await world.line(runId, payableId);
  expect({ reasonCode, reason }).toEqual({
    reasonCode: "more_than_owed",
    reason: expect.stringContaining("$50.00"),
  });
  const notices = world.store.db.selectFrom("notices").where("kind", "=", "payment-in-doubt");
  const told = await notices.select(["run_id", "roles", "subject"]).execute();
  expect(told).toEqual([
    { run_id: runId, roles: '["operator"]', subject: expect.stringContaining("of One BILL-") },
  ]);
});

test("bills are read one by one if the list of newer payments has more pages than there are bills", async ({
  world,
}) => {
  const run = await paidRun(world);
  const client = world.context().clientOf("acme");
  const payments = Object.create(client.payments, {
    list: { value: () => Promise.resolve({ items: [{}], totalCount: BILLS + 1 }) },
    listAll: { value: client.payments.listAll.bind(client.payments) },
    iteratePages: { value: () => expect.unreachable("reads pages") },
  }) as typeof client.payments;
  const patched = Object.create(client, { payments: { value: payments } }) as typeof client;
  const bills = await Promise.all(
    run.payableIds.map(async (payableId) => {
      const { paymentIds } = await world.line(run.runId, payableId);
      return { payableId, paymentIds };
    }),
  );
  const found = await followedPayments(patched, bills, "2026-01-01T00:00:00Z");
  const ids = new Map([...found].map(([payableId, of]) => [payableId, of.map(({ id }) => id)]));
  expect(ids).toEqual(new Map(bills.map(({ payableId, paymentIds }) => [payableId, paymentIds])));
});
