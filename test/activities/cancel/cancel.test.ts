import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { cancelOfHeld } from "../../../src/domain/cancellations/policy.ts";
import type { StopScope } from "../../../src/domain/holds.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
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

describe("a stop", () => {
  const ASKED = { reason: "fraud?", author: "cora", nowMs: 1 };

  /** A hold as a stop sets it, and the cancel that goes with it. */
  async function stopped(scope: StopScope, value: string, isLifted = false) {
    const { store, businessId } = world.money;
    const { holdId } = await store.transaction((trx) =>
      createHold(trx, { ...ASKED, businessId, scope, value }),
    );
    const lift = () =>
      store.transaction(async (trx) => {
        await releaseHold(trx, holdId, "cora", Date.now());
      });
    if (isLifted) await lift();
    const id = await world.request({ policy: cancelOfHeld({ scope, value }, holdId) });
    return { id, holdId, lift };
  }

  async function valuesOf(runId: string, payableId: string): Promise<Record<StopScope, string>> {
    const { sourceId, contactId } = await world.money.line(runId, payableId);
    return { run: runId, source: sourceId, contact: contactId, all: "" };
  }

  test.each([
    ["contact", []],
    ["all", []],
    // The next run, or another account, would pay them again.
    ["run", ["own", "own"]],
    ["source", ["own", "own"]],
  ] as const)(
    "of a %s cancels what the service has of it, and keeps each bill back",
    async (scope, own) => {
      const { runId, payableIds, payableId } = await world.money.approvedRun([{}, {}]);
      await world.money.pay(runId);
      const values = await valuesOf(runId, payableId);
      const { id, holdId, lift } = await stopped(scope, values[scope]);
      await world.turns(id);
      // What other tests have left is taken back, too, if it is meant.
      const items = (await world.itemsOf(id)).filter((item) =>
        payableIds.includes(item.payableId ?? ""),
      );
      expect(items.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
      const kept = items.map((item) => (item.holdId === holdId ? [] : "own"));
      expect(kept.flat()).toEqual(own);
      const held = await world.held();
      expect(payableIds.filter((each) => held.includes(each))).toHaveLength(own.length);
      await lift();
    },
  );

  test.each(["contact", "all", "run", "source"] as const)(
    "of a %s waits for a request under way, and cancels its payment once the service shows it",
    async (scope) => {
      const planned = await world.left(await world.money.approvedRun([{}]));
      const { runId, payableId } = planned;
      const values = await valuesOf(runId, payableId);
      const { id, lift } = await stopped(scope, values[scope]);
      await world.turns(id, 3);
      const shown = () => world.shown(id);
      expect(await shown()).toContain(`${payableId} unknown`);
      const [paymentId = ""] = await world.arrive(payableId);
      await world.turns(id);
      expect(await shown()).toContain(`${paymentId} cancelled`);
      await world.staysUnpaid(planned);
      await lift();
    },
  );

  test.each(["run", "all"] as const)(
    "of a %s that is released before its cancels go out cancels nothing more",
    async (scope) => {
      const { runId, payableId } = await world.money.approvedRun([{}]);
      await world.money.pay(runId);
      const values = await valuesOf(runId, payableId);
      const { id } = await stopped(scope, values[scope], true);
      await world.turns(id);
      const items = (await world.itemsOf(id)).filter((item) => item.payableId === payableId);
      expect(items.map(({ state }) => state)).toEqual(["released"]);
      expect(await world.held()).not.toContain(payableId);
      const [payment] = await world.money.paymentsOf(payableId);
      expect(payment?.status).toBe("scheduled");
    },
  );
});
