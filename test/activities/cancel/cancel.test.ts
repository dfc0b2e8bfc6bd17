import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CancelWorld } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";

let world: CancelWorld;

beforeAll(async () => {
  world = await CancelWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.reset();
});

/** Counts the cancels that leave, and answers each as a service that refuses it. */
function refuseCancels(): { sent: number } {
  const counted = { sent: 0 };
  const body = { error: "payment_not_cancellable", message: "no", details: { status: "held" } };
  world.money.override = {
    sendMoneyWrite: () => {
      counted.sent += 1;
      const answer = { kind: "http", status: 409, body, bodyText: JSON.stringify(body) };
      return Promise.resolve(answer as never);
    },
  };
  return counted;
}

describe("a held payment that the service refuses to cancel", () => {
  test("beside several scheduled ones is named as that, after one request", async () => {
    const payableId = await world.bill(60_000);
    await world.money.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
    const held = await world.payment(payableId, { amountCents: 10_000 });
    await world.money.control.advance("PT1M");
    for (const amountCents of [20_000, 30_000]) {
      await world.payment(payableId, { amountCents, scheduledAt: inDays(5) });
    }
    const counted = refuseCancels();
    const id = await world.ask({ payments: [held] });
    await world.turns(id);
    expect(await world.shown(id)).toEqual([`${held} several-scheduled`]);
    expect(counted.sent).toBe(1);
  });

  test("for no reason that can be seen ends as unknown, after a few keys", async () => {
    const payableId = await world.bill(10_000);
    await world.money.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
    const held = await world.payment(payableId);
    await world.money.control.advance("PT1M");
    refuseCancels();
    const id = await world.ask({ payments: [held] });
    await world.turns(id, 40);
    expect(await world.shown(id)).toEqual([`${held} unknown`]);
    const [item] = await world.itemsOf(id);
    expect(item).toMatchObject({ open: false, reason: expect.stringMatching(/Ask the service/) });
  });
});

describe("what is chosen of a run's bills", () => {
  test.each(["paying", "unknown", "retrying", "parked"] as const)(
    "takes what the service has scheduled of one that is %s",
    async (state) => {
      const planned = await world.money.approvedRun([{}, { contactId: "v2" }]);
      const { runId, payableId } = planned;
      const scheduled = await world.payment(payableId, { scheduledAt: inDays(5) });
      await world.money.store.db
        .updateTable("run_lines")
        .set({ state })
        .where("run_id", "=", runId)
        .where("payable_id", "=", payableId)
        .execute();
      const id = await world.ask({ run: CancelWorld.playbookOf(runId) });
      expect(await world.shown(id)).toEqual([`${scheduled} unknown`]);
      expect(await world.held()).toContain(payableId);
      await world.turns(id);
      expect(await world.shown(id)).toEqual([`${scheduled} cancelled`]);
    },
  );

  test("of a vendor begins with what runs soonest", async () => {
    const days = [9, 4, 6];
    const ids: string[] = [];
    for (const inSoMany of days) {
      ids.push(await world.payment(await world.bill(10_000), { scheduledAt: inDays(inSoMany) }));
    }
    const id = await world.ask({ vendor: "v1" });
    const expected = [ids[1], ids[2], ids[0]].map((each) => `${each} unknown`);
    expect(await world.shown(id)).toEqual(expected);
  });
});

test("a cancelled payment's run is told to look at its bill: no event tells it", async () => {
  const { money } = world;
  const { runId, payableId } = await money.approvedRun([{}]);
  await money.pay(runId);
  const [payment] = await money.paymentsOf(payableId);
  const id = await world.ask({ payments: [payment?.id ?? ""] });
  await money.untold();
  await world.turns(id);
  expect(await world.shown(id)).toEqual([`${payment?.id} cancelled`]);
  expect(await money.untold()).toContain(runId);
  expect((await money.assess(runId)).toFollow).toBe(1);
});

test("a payment that is asked for again keeps one hold on its bill, which one release lifts", async () => {
  const paymentId = await world.payment(await world.bill(10_000), { scheduledAt: inDays(5) });
  const holdOf = async (id: string) => (await world.itemsOf(id))[0]?.holdId;
  const first = await world.ask({ payments: [paymentId] });
  await world.turns(first);
  const again = await world.ask({ payments: [paymentId] });
  expect(await holdOf(again)).toBe(await holdOf(first));
  await world.turns(again);
  expect(await world.shown(again)).toEqual([`${paymentId} cancelled`]);
});

test("people hear, once, of a cancel that doesn't get through while there is time to do something", async () => {
  const paymentId = await world.payment(await world.bill(10_000), { scheduledAt: inDays(5) });
  const body = { statusCode: 401, message: "Unauthorized" };
  const answer = { kind: "http", status: 401, body, bodyText: JSON.stringify(body) } as never;
  world.money.override = { sendMoneyWrite: () => Promise.resolve(answer) };
  const id = await world.ask({ payments: [paymentId] });
  await world.turns(id, 2);
  expect(await world.told(id)).toEqual([]);
  await world.age(id, 11 * 60_000);
  await world.turns(id, 3);
  expect(await world.told(id)).toEqual([expect.stringMatching(/token \(401\).*9:00 New York/)]);
});
