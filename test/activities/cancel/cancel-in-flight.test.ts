import { describe, expect } from "vitest";
import { newYorkDate, newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import { spokenDate } from "../../../src/domain/clock/spoken.ts";
import { getCancellation } from "../../../src/store/cancellations/cancellations.ts";
import { releaseHold } from "../../../src/store/holds/holds.ts";
import { explainIn } from "../explain.ts";
import { CancelWorld, test } from "../cancel-world.ts";
import { inDays } from "../planning-world.ts";

describe("cancelling a run while a request is under way", () => {
  test.for(["before", "after"] as const)(
    "if the service is slow %s it makes the payment, the cancellation waits and then cancels it",
    async (when, { cancels, world }) => {
      const planned = await world.approvedRun([{}]);
      const { runId, payableId } = planned;
      await world.control.faults([
        { method: "POST", path: "/v1/payments", when, effect: "delay", delayMs: 1_000, times: 1 },
      ]);
      const paying = world.pay(runId);
      await cancels.requestUnderWay(payableId);
      const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
      expect(await cancels.held()).toEqual([payableId]);
      await paying;
      expect(await cancels.turns(id)).toMatchObject({ phase: "completed", exceptions: 0 });
      const [payment] = await world.paymentsOf(payableId);
      expect(payment?.status).toBe("cancelled");
      expect(await cancels.shown(id)).toEqual([`${payment?.id} cancelled`]);
      await world.follow(runId);
      expect((await world.line(runId, payableId)).state).toBe("cancelled");
      await cancels.staysUnpaid(planned);
    },
  );

  test("a payment is cancelled as soon as the service shows it, even if its answer never arrived", async ({
    cancels,
    world,
  }) => {
    const planned = await cancels.left(await world.approvedRun([{}]));
    const { runId, payableId } = planned;
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    expect(await cancels.turns(id, 3)).toMatchObject({
      phase: "cancelling",
      waitingFor: "the result of 1 request under way",
    });
    expect((await cancels.itemsOf(id))[0]?.reason).toContain(
      "no answer yet, and the service shows no payment",
    );
    const [paymentId = ""] = await cancels.arrive(payableId);
    await cancels.turns(id, 3);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
    // The run updates its line once the request can have no further effect.
    await world.world.pass(9 * 60_000);
    await cancels.leaseAgain(planned);
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "cancelled",
      paymentIds: [paymentId],
    });
    await cancels.staysUnpaid(planned);
  });

  test("a payment that only the sender's last lookup finds, after the window, is cancelled as well", async ({
    cancels,
    world,
  }) => {
    const planned = await cancels.left(await world.approvedRun([{}]));
    const { runId, payableId } = planned;
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    await cancels.turns(id, 2);
    await world.world.pass(6 * 60_000);
    const [paymentId = ""] = await cancels.arrive(payableId);
    await cancels.leaseAgain(planned);
    expect((await world.line(runId, payableId)).state).toBe("scheduled");
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
  });

  test("a request that never takes effect is reported as withheld after the window, and stays unpaid", async ({
    cancels,
    world,
  }) => {
    const planned = await cancels.left(await world.approvedRun([{}]));
    const { runId, payableId } = planned;
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    await cancels.turns(id, 9);
    expect(await cancels.shown(id)).toEqual([`${payableId} unknown`]);
    expect(await cancels.turns(id)).toMatchObject({ phase: "completed", needsAction: false });
    expect(await cancels.shown(id)).toEqual([`${payableId} withheld`]);
    expect((await cancels.itemsOf(id))[0]?.reason).toMatch(/shows no payment/);
    await cancels.staysUnpaid(planned);
    expect(await cancels.held()).toEqual([payableId]);
  });

  test("a bill whose request the service refuses is reported as withheld, with the reason", async ({
    cancels,
    world,
  }) => {
    const planned = await world.approvedRun([{}]);
    const { runId, payableId } = planned;
    const body = { error: "validation_error", message: "no", details: { field: "bankAccountId" } };
    let answer = (): void => {};
    world.override = {
      sendMoneyWrite: () =>
        new Promise((resolve) => {
          answer = () =>
            resolve({ kind: "http", status: 400, body, bodyText: JSON.stringify(body) } as never);
        }),
    };
    const paying = world.pay(runId);
    await cancels.requestUnderWay(payableId);
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    await expect.poll(() => (answer(), cancels.look(id))).toBeDefined();
    await paying;
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${payableId} withheld`]);
    expect((await cancels.itemsOf(id))[0]?.reason).toMatch(/came to nothing \(validation_error\)/);
  });

  test("if a request is refused because of an external payment, that payment is cancelled", async ({
    cancels,
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.control.faults([
      { method: "POST", path: "/v1/payments", when: "before", effect: "delay", delayMs: 1_000 },
    ]);
    const paying = world.pay(runId);
    await cancels.requestUnderWay(payableId);
    await world.control.faults();
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    const theirs = await cancels.payment(payableId, { scheduledAt: inDays(5) });
    await paying;
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${theirs} cancelled`]);
  });

  test("a payment that shows up too close to 9:00 New York is reported as too late", async ({
    cancels,
    world,
  }) => {
    const planned = await cancels.left(await world.approvedRun([{}]));
    const { runId, payableId } = planned;
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    const [paymentId = ""] = await cancels.arrive(payableId);
    const [payment] = await world.context().clientOf("acme").payments.listAll({ payableId });
    const day = newYorkDate(Date.parse(payment?.scheduledAt ?? ""));
    await world.control.setClock(new Date(newYorkInstantMs(day, "08:56")).toISOString());
    const left =
      /^a person, about 1 payment of .*: Too close to 9:00 .* ask the vendor to return it/;
    expect(await cancels.turns(id)).toMatchObject({ waitingFor: expect.stringMatching(left) });
    expect((await getCancellation(world.store.db, id))?.waitingFor).toMatch(left);
    expect(await cancels.shown(id)).toEqual([`${paymentId} too-late`]);
    expect(await cancels.cancelKeys(paymentId)).toEqual(new Set());
  });

  test("if the service splits the payment of a request, the parts are reported one by one", async ({
    cancels,
    world,
  }) => {
    const planned = await cancels.left(await world.approvedRun([{ totalAmountCents: 15_000_000 }]));
    const { runId, payableId } = planned;
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    const made = await cancels.arrive(payableId);
    expect(made.length).toBeGreaterThan(1);
    expect(await cancels.turns(id)).toMatchObject({ totalCents: 15_000_000 });
    const shown = await cancels.shown(id);
    expect(shown.toSorted()).toEqual(made.map((each) => `${each} several-scheduled`).toSorted());
    const [payment] = await world.context().clientOf("acme").payments.listAll({ payableId });
    const day = newYorkDate(Date.parse(payment?.scheduledAt ?? ""));
    const goesOutAtMs = newYorkInstantMs(day, "09:00");
    const items = await cancels.itemsOf(id);
    expect(items.map((item) => item.goesOutAtMs)).toEqual(made.map(() => goesOutAtMs));
    const told = (await cancels.told(id)).join("\n");
    expect(told).toContain(`The money goes out on ${spokenDate(day)}: ask the service's support`);
    await world.control.setClock(new Date(goesOutAtMs + 1).toISOString());
    const { text } = await explainIn(world, payableId);
    expect(text).toContain(`The money went out on ${spokenDate(day)}. `);
    expect(text).not.toMatch(/goes out on/);
  });

  test("a bill whose hold is released in the meantime is not cancelled", async ({
    cancels,
    world,
  }) => {
    const { runId, payableId } = await cancels.left(await world.approvedRun([{}]));
    const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    const [hold] = await world.holds();
    await world.store.transaction((trx) =>
      releaseHold(trx, hold?.holdId ?? "", "olga", Date.now()),
    );
    const [paymentId = ""] = await cancels.arrive(payableId);
    await cancels.turns(id);
    expect(await cancels.shown(id)).toEqual([`${payableId} released`]);
    expect(await cancels.cancelKeys(paymentId)).toEqual(new Set());
  });

  test("two simultaneous cancellations cancel a payment once, under one hold", async ({
    cancels,
    world,
  }) => {
    const { runId, payableId } = await cancels.left(await world.approvedRun([{}]));
    const one = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
    const other = await cancels.ask({ vendor: "v1" });
    expect(await cancels.held()).toEqual([payableId]);
    const [paymentId = ""] = await cancels.arrive(payableId);
    // One cancellation reads "scheduled" after the other has already cancelled the payment.
    const path = `/v1/payments/${paymentId}`;
    const late = { when: "after", effect: "delay", delayMs: 1_500 } as const;
    await world.control.faults([{ method: "GET", path, ...late, times: 1 }]);
    await Promise.all([cancels.turns(one), cancels.turns(other)]);
    for (const id of [one, other]) {
      expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
    }
    expect((await cancels.cancelKeys(paymentId)).size).toBe(1);
  });
});

test("an adopted payment is cancelled even if the answer to the cancel is lost too", async ({
  cancels,
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const lost = { method: "POST", when: "after", effect: "drop", times: 1 } as const;
  await world.control.faults([{ ...lost, path: "/v1/payments" }]);
  await world.pay(runId);
  const [paymentId = ""] = (await world.line(runId, payableId)).paymentIds;
  await world.control.faults([{ ...lost, path: `/v1/payments/${paymentId}/cancel` }]);
  const id = await cancels.ask({ run: CancelWorld.playbookOf(runId) });
  await cancels.turns(id);
  expect(await cancels.shown(id)).toEqual([`${paymentId} cancelled`]);
});
