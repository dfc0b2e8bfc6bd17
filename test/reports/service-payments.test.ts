import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { paymentsSince } from "../../src/reports/service-payments.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";

async function listed(world: MoneyWorld, sinceMs: number, page = 1) {
  const context = {
    store: world.store,
    clientOf: ({ name }: { readonly name: string }) => world.context().clientOf(name),
  };
  return paymentsSince(context, world.context().profileOf("acme"), { sinceMs, page });
}

test("payments made by the store's requests are on record, and all others are not", async ({
  world,
}) => {
  // The service dates payments by the bank's clock, which may be far ahead in a sandbox.
  await world.control.advance("P30D");
  const { runId, payableIds } = await world.approvedRun([{}, {}]);
  const [ours = "", theirs = ""] = payableIds;
  const client = world.context().clientOf("acme");
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  await client.payments.create({ payableId: theirs, ...source }, { idempotencyKey: randomUUID() });
  await world.pay(runId);
  const of = async () =>
    (await listed(world, 1)).items
      .filter(({ payableId }) => payableIds.includes(payableId ?? ""))
      .map(({ payableId, onRecord, mayBeOurs }) => ({ payableId, onRecord, mayBeOurs }));
  expect(await of()).toEqual([
    { payableId: ours, onRecord: true, mayBeOurs: false },
    { payableId: theirs, onRecord: false, mayBeOurs: false },
  ]);
  const { serviceMs, businessMs } = await world.context().clockOf("acme").now();
  const loss = { businessId: world.businessId, evidence: "a test", hadItAtMs: 1 };
  await world.store.transaction((trx) =>
    holdForLoss(trx, { ...loss, serviceMs, businessMs: businessMs + 60_000 }),
  );
  expect(await of()).toEqual([
    { payableId: ours, onRecord: true, mayBeOurs: false },
    { payableId: theirs, onRecord: false, mayBeOurs: true },
  ]);
});

test("a payment is not called external while a request for its bill has no response", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  world.override = { ...world.lostAnswers(), listAll: () => Promise.resolve([]) };
  await world.pay(runId);
  const of = async () =>
    (await listed(world, 1)).items.find((payment) => payment.payableId === payableId);
  expect(await of()).toMatchObject({ onRecord: false, beingFoundOut: true });
  world.override = {};
  await world.control.advanceWire("PT20M");
  await world.pay(runId);
  expect(await of()).toMatchObject({ onRecord: true, beingFoundOut: false });
});

test("pages continue until one is empty, and older payments are not shown", async ({ world }) => {
  const { runId } = await world.approvedRun([{}]);
  await world.pay(runId);
  const first = await listed(world, 1);
  expect(first).toMatchObject({ business: "acme", nextPage: 2 });
  expect(await listed(world, 1, 2)).toMatchObject({ items: [], nextPage: null });
  const { serviceMs } = await world.context().clockOf("acme").now();
  expect(await listed(world, serviceMs + 60_000)).toMatchObject({ items: [], nextPage: null });
});

test("a payment's bill that no run has planned has the service's number and vendor", async ({
  world,
}) => {
  const { payableIds } = await world.approvedRun([{}]);
  const client = world.context().clientOf("acme");
  const [planned = ""] = payableIds;
  const bill = await client.payables.get(planned);
  await world.store.db.deleteFrom("names").execute();
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  await client.payments.create({ payableId: planned, ...source }, { idempotencyKey: randomUUID() });
  const [shown] = (await listed(world, 1)).items.filter(({ payableId }) => payableId === planned);
  expect(shown).toMatchObject({
    publicId: bill.publicId,
    contactName: bill.contact?.displayName,
  });
  expect(shown?.publicId).toMatch(/^BILL-/);
});
