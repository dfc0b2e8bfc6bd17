import { expect } from "vitest";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { test } from "../money-world.ts";

test("a payment of another amount than requested puts its run on hold and causes a notice", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const client = world.context().clientOf("acme");
  world.override = {
    sendMoneyWrite: async (write) => {
      const answer = await client.sendMoneyWrite(write);
      if (answer.kind !== "http") return answer;
      const { payments, ...rest } = answer.body as { payments: { amountCents: number }[] };
      const more = payments.map((payment) => ({ ...payment, amountCents: 10_001 }));
      return { ...answer, body: { ...rest, payments: more } };
    },
  };
  await world.pay(runId);
  expect(await world.holds()).toMatchObject([{ scope: "run", value: runId }]);
  const notices = await listNotices(world.store.db, { kind: "payment-in-doubt", limit: 9 });
  expect(notices).toMatchObject([{ roles: ["operator"], data: { payableId } }]);
});

test("two runs that pay a bill in equal parts pay both", async ({ world }) => {
  const anyDay = { late: "next-business-day" } as const;
  const first = await world.plannedRun([{ totalAmountCents: 10_000 }], anyDay, 5_000);
  await world.approve(first.runId);
  await world.pay(first.runId);
  await world.control.advance("P9D");
  await world.follow(first.runId);
  await world.assess(first.runId);
  const second = await world.planAgain(first.payableIds, 5_000, anyDay);
  await world.approve(second.runId);
  await world.pay(second.runId);
  const { payableId } = first;
  const lines = [
    await world.line(first.runId, payableId),
    await world.line(second.runId, payableId),
  ];
  expect(lines[0]?.lineHash).toBe(lines[1]?.lineHash);
  const paid = (await world.paymentsOf(payableId)).map(({ id }) => id);
  expect(lines.flatMap(({ paymentIds }) => paymentIds).toSorted()).toEqual(paid.toSorted());
  expect(paid).toHaveLength(2);
});

test("an answer that lists earlier payments of the bill counts only the new one", async ({
  world,
}) => {
  const first = await world.plannedRun([{ totalAmountCents: 10_000 }], {}, 4_000);
  await world.approve(first.runId);
  await world.pay(first.runId);
  await world.control.advance("P9D");
  await world.follow(first.runId);
  await world.assess(first.runId);
  const second = await world.planAgain(first.payableIds, 6_000);
  await world.approve(second.runId);
  const { payableId } = first;
  const client = world.context().clientOf("acme");
  const [earlier] = await client.payments.listAll({ payableId });
  world.override = {
    sendMoneyWrite: async (write) => {
      const answer = await client.sendMoneyWrite(write);
      if (answer.kind !== "http") return answer;
      const body = answer.body as { payments: unknown[] };
      return { ...answer, body: { ...body, payments: [...body.payments, earlier] } };
    },
  };
  await world.pay(second.runId);
  const line = await world.line(second.runId, payableId);
  expect(line.paymentIds).toHaveLength(1);
  expect(line.paymentIds).not.toContain(earlier?.id);
  expect(await world.holds()).toEqual([]);
});
