import { describe, expect } from "vitest";
import { cancelPayments } from "../../../activities/cancel/cancel-payments.ts";
import { cancelOfHeld } from "../../../src/domain/cancellations/policy.ts";
import type { StopScope } from "../../../src/domain/holds.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { CancelWorld, test } from "../cancel-world.ts";
import { explainIn } from "../explain.ts";
import { inDays } from "../planning-world.ts";
import type { MoneyWorld } from "../money-world.ts";

/** Counts the cancels that leave, and answers each with a refusal. */
function refuseCancels(world: MoneyWorld): { sent: number } {
  const counted = { sent: 0 };
  const body = { error: "payment_not_cancellable", message: "no", details: { status: "held" } };
  world.override = {
    sendMoneyWrite: () => {
      counted.sent += 1;
      const answer = { kind: "http", status: 409, body, bodyText: JSON.stringify(body) };
      return Promise.resolve(answer as never);
    },
  };
  return counted;
}

describe("a held payment that the service refuses to cancel", () => {
  test("a held payment of a bill with several scheduled payments is reported as such after one request", async ({
    cancels,
    world,
  }) => {
    const payableId = await cancels.bill(60_000);
    await world.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
    const held = await cancels.payment(payableId, { amountCents: 10_000 });
    await world.control.advance("PT1M");
    for (const amountCents of [20_000, 30_000]) {
      await cancels.payment(payableId, { amountCents, scheduledAt: inDays(5) });
    }
    const counted = refuseCancels(world);
    const id = await cancels.ask({ payments: [held] });
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${held} several-scheduled`]);
    const [told] = await listNotices(world.store.db, { limit: 1 });
    expect(told?.subject).toMatch(/: a payment of \$100\.00 was not cancelled$/);
    const { text } = await explainIn(world, payableId);
    expect(text).toContain(`${held}: several scheduled. The service cancels no payment of a bill`);
    expect(counted.sent).toBe(1);
  });

  test("a held payment refused for no visible reason ends as unknown after a few keys", async ({
    cancels,
    world,
  }) => {
    const payableId = await cancels.bill(10_000);
    await world.control.outcome({ match: { payableId }, outcome: "hold", times: 1 });
    const held = await cancels.payment(payableId);
    await world.control.advance("PT1M");
    refuseCancels(world);
    const id = await cancels.ask({ payments: [held] });
    await cancels.turns(id, 40);
    expect(await cancels.shown(id)).toEqual([`${held} unknown`]);
    const [item] = await cancels.itemsOf(id);
    expect(item).toMatchObject({ open: false, reason: expect.stringMatching(/Ask the service/) });
  });
});

test("a paused cancellation begins no more cancels, and the next activity sends the rest once", async ({
  cancels,
  world,
}) => {
  const payments = [];
  // More than a lane cancels at once.
  for (let number = 0; number < 25; number += 1) {
    const payableId = await cancels.bill(10_000 + number);
    payments.push(await cancels.payment(payableId, { scheduledAt: inDays(5) }));
  }
  const id = await cancels.ask({ payments });
  const paused = new AbortController();
  const client = world.world.context().clientOf("acme");
  const sent: string[] = [];
  world.override = {
    sendMoneyWrite: (request) => {
      paused.abort();
      sent.push(request.path);
      return client.sendMoneyWrite(request);
    },
  };
  await cancelPayments(world.context(), { id, by: "test/paused", stop: paused.signal });
  expect(sent.length).toBeLessThan(payments.length);
  expect(await cancels.turns(id)).toMatchObject({ phase: "completed" });
  expect(sent).toHaveLength(payments.length);
  expect(new Set(sent).size).toBe(payments.length);
});

describe("what a cancellation chooses", () => {
  test.for(["paying", "unknown", "retrying", "parked"] as const)(
    "a run's cancellation takes the scheduled payments of a bill that is %s",
    async (state, { cancels, world }) => {
      const planned = await world.approvedRun([{}, { contactId: "v2" }]);
      const { runId, payableId } = planned;
      const scheduled = await cancels.payment(payableId, { scheduledAt: inDays(5) });
      await world.store.db
        .updateTable("run_lines")
        .set({ state })
        .where("run_id", "=", runId)
        .where("payable_id", "=", payableId)
        .execute();
      const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
      expect(await cancels.shown(id)).toEqual([`${scheduled} unknown`]);
      expect(await cancels.held()).toContain(payableId);
      await cancels.turns(id);
      expect(await cancels.shown(id)).toEqual([`${scheduled} cancelled`]);
    },
  );

  test("a vendor's payments are cancelled in the order of their dates", async ({ cancels }) => {
    const days = [9, 4, 6];
    const ids: string[] = [];
    for (const inSoMany of days) {
      ids.push(
        await cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(inSoMany) }),
      );
    }
    const id = await cancels.ask({ vendor: "v1" });
    const expected = [ids[1], ids[2], ids[0]].map((each) => `${each} unknown`);
    expect(await cancels.shown(id)).toEqual(expected);
  });
});

test("a cancelled payment's run is signaled to look at its bill, because no event reports it", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  const [payment] = await world.paymentsOf(payableId);
  const id = await cancels.ask({ payments: [payment?.id ?? ""] });
  await world.takeSignals();
  await cancels.turns(id);
  expect(await cancels.shown(id)).toEqual([`${payment?.id} cancelled`]);
  expect(await world.takeSignals()).toContain(runId);
  expect((await world.assess(runId)).toFollow).toBe(1);
});

test("a payment that is cancelled twice keeps one hold on its bill, which one release lifts", async ({
  cancels,
}) => {
  const paymentId = await cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(5) });
  const holdOf = async (id: string) => (await cancels.itemsOf(id))[0]?.holdId;
  const first = await cancels.ask({ payments: [paymentId] });
  await cancels.turns(first);
  const again = await cancels.ask({ payments: [paymentId] });
  expect(await holdOf(again)).toBe(await holdOf(first));
  await cancels.turns(again);
  expect(await cancels.shown(again)).toEqual([`${paymentId} cancelled`]);
});

test("people are notified once, while they can still act, if a cancel doesn't get through", async ({
  cancels,
  world,
}) => {
  const paymentId = await cancels.payment(await cancels.bill(10_000), { scheduledAt: inDays(5) });
  const body = { statusCode: 401, message: "Unauthorized" };
  const answer = { kind: "http", status: 401, body, bodyText: JSON.stringify(body) } as never;
  world.override = { sendMoneyWrite: () => Promise.resolve(answer) };
  const id = await cancels.ask({ payments: [paymentId] });
  await cancels.turns(id, 2);
  expect(await cancels.told(id)).toEqual([]);
  await cancels.age(id, 11 * 60_000);
  await cancels.turns(id, 3);
  expect(await cancels.told(id)).toEqual([expect.stringMatching(/token \(401\).*9:00 New York/)]);
});

describe("a stop", () => {
  const ASKED = { reason: "fraud?", author: "cora", nowMs: 1 };

  /** Sets a hold as a stop does, and requests the cancellation that goes with it. */
  async function stopped(cancels: CancelWorld, scope: StopScope, value: string, isLifted = false) {
    const { store, businessId } = cancels.money;
    const { holdId } = await store.transaction((trx) =>
      createHold(trx, { ...ASKED, businessId, scope, value }),
    );
    if (isLifted) {
      await store.transaction(async (trx) => {
        await releaseHold(trx, holdId, "cora", Date.now());
      });
    }
    const id = await cancels.request({ policy: cancelOfHeld({ scope, value }, holdId) });
    return { id, holdId };
  }

  async function valuesOf(
    world: MoneyWorld,
    runId: string,
    payableId: string,
  ): Promise<Record<StopScope, string>> {
    const { sourceId, contactId } = await world.line(runId, payableId);
    return { run: runId, source: sourceId, contact: contactId, all: "" };
  }

  test.for([
    ["contact", []],
    ["all", []],
    // The next run, or a run with another account, would pay them again.
    ["run", ["own", "own"]],
    ["source", ["own", "own"]],
  ] as const)(
    "a stop of a %s cancels its scheduled payments and keeps each bill on hold",
    async ([scope, own], { cancels, world }) => {
      const { runId, payableIds, payableId } = await world.approvedRun([{}, {}]);
      await world.pay(runId);
      const values = await valuesOf(world, runId, payableId);
      const { id, holdId } = await stopped(cancels, scope, values[scope]);
      await cancels.turns(id);
      const items = await cancels.itemsOf(id);
      expect(items.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
      const kept = items.map((item) => (item.holdId === holdId ? [] : "own"));
      expect(kept.flat()).toEqual(own);
      const held = await cancels.held();
      expect(payableIds.filter((each) => held.includes(each))).toHaveLength(own.length);
    },
  );

  test.for(["contact", "all", "run", "source"] as const)(
    "a stop of a %s waits for a request under way, and cancels its payment once the service shows it",
    async (scope, { cancels, world }) => {
      const planned = await cancels.left(await world.approvedRun([{}]));
      const { runId, payableId } = planned;
      const values = await valuesOf(world, runId, payableId);
      const { id } = await stopped(cancels, scope, values[scope]);
      await cancels.turns(id, 3);
      const shown = () => cancels.shown(id);
      expect(await shown()).toContain(`${payableId} unknown`);
      const [paymentId = ""] = await cancels.arrive(payableId);
      await cancels.turns(id);
      expect(await shown()).toContain(`${paymentId} cancelled`);
      await cancels.staysUnpaid(planned);
    },
  );

  test.for(["run", "all"] as const)(
    "a stop of a %s that is released before its cancels go out cancels nothing",
    async (scope, { cancels, world }) => {
      const { runId, payableId } = await world.approvedRun([{}]);
      await world.pay(runId);
      const values = await valuesOf(world, runId, payableId);
      const { id } = await stopped(cancels, scope, values[scope], true);
      await cancels.turns(id);
      const items = await cancels.itemsOf(id);
      expect(items.map(({ state }) => state)).toEqual(["released"]);
      expect(await cancels.held()).not.toContain(payableId);
      const [payment] = await world.paymentsOf(payableId);
      expect(payment?.status).toBe("scheduled");
    },
  );
});
