import { expect } from "vitest";
import type { Payment } from "../../src/payments-api/index.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";
import { paid } from "./really-paid.ts";

/** Changes what is listed if the payments of one bill are asked for. */
function listing(
  { world, override }: Pick<MoneyWorld, "world" | "override">,
  change: (
    listed: readonly Payment[],
    payableId: string,
    all: readonly Payment[],
  ) => readonly Payment[],
): MoneyWorld["override"] {
  const { payments } = world.context().clientOf("acme");
  return {
    ...override,
    listAll: async (filters, options) => {
      const listed = await payments.listAll(filters, options);
      const { payableId } = filters ?? {};
      if (payableId === undefined) return listed;
      return [...change(listed, payableId, await payments.listAll({}, options))];
    },
  };
}

const IGNORES_FILTER: Parameters<typeof listing>[1] = (_, _payableId, all) => all;

/** Returns the ids of all payments that are to be cancelled. */
async function toCancel({ store }: MoneyWorld): Promise<readonly string[]> {
  const rows = await store.db.selectFrom("cancellations").select("policy").execute();
  return rows.flatMap(({ policy }) => {
    const { choose } = JSON.parse(policy) as { choose: { payments: string[] | null } };
    return choose.payments ?? [];
  });
}

/** Pays one bill, whose payment has settled when this returns. */
async function settledBill(world: MoneyWorld): Promise<string> {
  const { runId, payableId } = await world.approvedRun([{ totalAmountCents: 50_000 }]);
  await world.pay(runId);
  await world.control.advance("P9D");
  return payableId;
}

test("a service that lists all payments for each bill gets each bill paid once, ends none as paid elsewhere and cancels nothing", async ({
  world,
}) => {
  await settledBill(world);
  const { runId, payableIds } = await world.approvedRun([{}, {}, { totalAmountCents: 60_000 }]);
  world.override = listing(world, IGNORES_FILTER);
  await world.pay(runId);
  await world.follow(runId);
  world.override = {};
  for (const payableId of payableIds) {
    expect(await paid(world, payableId)).toHaveLength(1);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "scheduled",
      reasonCode: null,
    });
  }
  expect(await toCancel(world)).toEqual([]);
  expect(await world.holds()).toEqual([]);
});

test("if answers are lost and all payments are listed for each bill, each bill takes over its own payment", async ({
  world,
}) => {
  await settledBill(world);
  const { runId, payableIds } = await world.approvedRun([{}, {}, {}]);
  world.override = listing({ world: world.world, override: world.lostAnswers() }, IGNORES_FILTER);
  for (let turns = 0; turns < 3; turns += 1) {
    await world.pay(runId);
    await world.world.pass(60_000);
  }
  world.override = {};
  for (const payableId of payableIds) {
    const own = (await world.paymentsOf(payableId)).map(({ id }) => id);
    expect(own).toHaveLength(1);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "scheduled",
      paymentIds: own,
    });
  }
});

test("a payment whose answer was lost and that is listed under another bill's name is not made again, and a person hears of it", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = listing({ world: world.world, override: world.lostAnswers() }, (listed) =>
    listed.map((payment) => ({ ...payment, payableId: "another_bill" })),
  );
  for (let turns = 0; turns < 9; turns += 1) {
    await world.pay(runId);
    await world.world.pass(10 * 60_000);
  }
  world.override = {};
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "parked",
    reasonCode: "unaccounted",
    paymentIds: [],
  });
  expect(await paid(world, payableId)).toHaveLength(1);
});

test("a payment that Payrun made is followed whatever bill it names later, and its bill is not paid again", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R03", times: 1 });
  await world.pay(runId);
  world.override = listing(world, (listed) =>
    listed.map((payment) => ({ ...payment, payableId: "another_bill" })),
  );
  await world.follow(runId);
  expect((await world.line(runId, payableId)).state).toBe("scheduled");
  await world.control.advance("P9D");
  await world.follow(runId);
  expect((await world.line(runId, payableId)).state).toBe("retrying");
  expect((await world.look(payableId)).phase).not.toBe("ended");
});

test("a settled payment that names another bill neither stops nor ends a bill that is scheduled or retried", async ({
  world,
}) => {
  const other = await settledBill(world);
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  await world.pay(runId);
  world.override = listing(world, (listed, _, all) => [
    ...listed,
    ...all.filter((payment) => payment.payableId === other),
  ]);
  await world.follow(runId);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "scheduled",
    reasonCode: null,
  });
  await world.control.advance("P9D");
  await world.follow(runId);
  expect((await world.look(payableId)).phase).toBe("waiting");
  expect((await world.line(runId, payableId)).state).toBe("retrying");
  expect(await toCancel(world)).toEqual([]);
  expect(await world.holds()).toEqual([]);
});

test("a payment of another bill that can't be read keeps no bill from being paid", async ({
  world,
}) => {
  const other = await settledBill(world);
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = listing(world, (listed, _, all) => [
    ...listed,
    ...all
      .filter((payment) => payment.payableId === other)
      .map((payment) => ({ ...payment, status: "unreadable", unreadable: { amountCents: "x" } })),
  ]);
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
});

test("what is too much on a bill is cancelled only of Payrun's own payments, whichever were made last", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  const { paymentIds } = await world.line(runId, payableId);
  world.override = listing(world, (listed) => [
    ...listed,
    ...listed.map((payment) => ({ ...payment, id: "pay_other", createdAt: "2031-01-01T00:00Z" })),
  ]);
  await world.follow(runId);
  expect((await world.line(runId, payableId)).reasonCode).toBe("more_than_owed");
  expect(await toCancel(world)).toEqual(paymentIds);
});
