import { describe, expect } from "vitest";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { isNotified } from "../../src/store/notices/notices.ts";
import { openSubjects } from "../../src/store/payables/open-subjects.ts";
import { bills } from "../support/bills.ts";
import {
  askToCancel,
  bankClockTo,
  cancelKeys,
  hasEnded,
  pay,
  paymentNow,
  scheduledBill,
  untilCancellation,
} from "../support/cancellations.ts";
import { keepHistory } from "../support/keep-history.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { clockNoticed, expectBank, paymentsOf, plannedScene } from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";

const test = payrunTest({ webhooks: false });

const CANCEL = { method: "POST", path: "/v1/payments/*/cancel" } as const;

/** Advances the bank's clock until all money that will move has moved. */
async function weeksPass(payrun: TestPayrun): Promise<void> {
  await payrun.sandbox.control.advance("P14D");
}

async function isHeld(payrun: TestPayrun, payableId: string): Promise<boolean> {
  const { body } = await payrun.call<{ items: { scope: string; value: string }[] }>(
    "operator",
    "GET",
    "/v1/holds",
  );
  return body.items.some(({ scope, value }) => scope === "payable" && value === payableId);
}

describe("cancelling what the service has scheduled", () => {
  test("a cancellation moves no money, and holds the bill until a person releases it", async ({
    payrun,
  }) => {
    const { bill, paymentId } = await scheduledBill(payrun, 101_00);
    const id = await askToCancel(payrun, [paymentId]);
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done).toMatchObject({
      kind: "cancel-scheduled",
      phase: "completed",
      counts: { cancelled: 1 },
      totalCents: 101_00,
      payments: [{ paymentId, payableId: bill.id, state: "cancelled" }],
    });
    expect(done.payments[0]?.reason).toMatch(/No money moved/);
    expect((await paymentNow(payrun, paymentId)).status).toBe("cancelled");
    expect(await cancelKeys(payrun, paymentId)).toHaveLength(1);
    expect(await isHeld(payrun, bill.id)).toBe(true);
    const path = `/v1/payables/${bill.id}/history`;
    expect((await payrun.call("operator", "GET", path)).body).toMatchObject({
      cancels: [{ paymentId, operation: "cancel", state: "applied" }],
      cancellations: [{ id, paymentId, state: "cancelled" }],
    });
    const { runId } = await plannedScene(payrun, "everything", [102_00]);
    expect((await payrun.status(runId)).payments.map((line) => line.payableId)).not.toContain(
      bill.id,
    );
    await weeksPass(payrun);
    await expectBank(payrun, [[bill, 0]]);
    await keepHistory(payrun, id, "cancel-scheduled");
  });

  test("only operators may cancel, and a second request for the same payments joins the first", async ({
    payrun,
  }) => {
    const { paymentId } = await scheduledBill(payrun, 103_00);
    const body = { payments: [paymentId] };
    const refused = await payrun.call("controller", "POST", "/v1/cancellations", body);
    expect(refused.status).toBe(403);
    await payrun.killWorkers();
    const id = await askToCancel(payrun, [paymentId]);
    const again = await payrun.call<{ id: string }>("operator", "POST", "/v1/cancellations", body);
    expect(again).toMatchObject({ status: 200, body: { id } });
    await payrun.startWorker();
    await untilCancellation(payrun, id, "ended", hasEnded);
    expect(await cancelKeys(payrun, paymentId)).toHaveLength(1);
  });

  test.runIf(isLong)(
    "a payment that runs in a moment is too late: no cancel is sent within the margin",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { bill, paymentId } = await scheduledBill(payrun, 104_00);
      const runsOn = newYorkDate(Date.parse((await paymentNow(payrun, paymentId)).scheduledAt));
      await bankClockTo(payrun, runsOn, "08:57");
      await clockNoticed();
      const id = await askToCancel(payrun, [paymentId]);
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done).toMatchObject({
        phase: "completed-with-exceptions",
        payments: [{ state: "too-late" }],
      });
      expect(await cancelKeys(payrun, paymentId)).toEqual([]);
      const fact = {
        businessId: payrun.sandbox.business.businessId,
        kind: "payment-not-cancelled",
      };
      expect(await isNotified(payrun.store.db, { ...fact, factKey: `${id}/${paymentId}` })).toBe(
        true,
      );
      await control.advance("P14D");
      await expectBank(payrun, [[bill, 104_00]]);
      await keepHistory(payrun, id, "cancel-scheduled-too-late");
    },
  );

  test.runIf(isLong)(
    "a cancel that arrives after 9:00 New York reports that the bank has the payment",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { bill, paymentId } = await scheduledBill(payrun, 105_00);
      await control.faults([
        { ...CANCEL, when: "before", effect: "delay", delayMs: 2_500, times: 1 },
      ]);
      const id = await askToCancel(payrun, [paymentId]);
      await expect
        .poll(async () =>
          payrun.store.db.selectFrom("sends").select("send_id").where("owner", "=", id).execute(),
        )
        .toHaveLength(1);
      await control.advance("P4D");
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done.payments[0]).toMatchObject({ state: "too-late" });
      await weeksPass(payrun);
      await expectBank(payrun, [[bill, 105_00]]);
    },
  );

  test.runIf(isLong)(
    "a payment of a worker that died before the answer is cancelled too",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { runId, made } = await plannedScene(payrun, "sent", [108_00]);
      const [bill] = made;
      await control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "after",
          effect: "delay",
          delayMs: 8_000,
          times: 1,
        },
      ]);
      await approve(payrun, runId);
      const { businessId } = payrun.sandbox.business;
      await expect
        .poll(() => openSubjects(payrun.store.db, businessId, [bill?.id ?? ""]))
        .toContain(bill?.id);
      await expect.poll(() => paymentsOf(payrun, bill)).toHaveLength(1);
      await payrun.killWorkers();
      const playbook = runId.split("/")[2] ?? "";
      const text = `kind: cancel-scheduled\nchoose: { run: ${playbook} }\n`;
      await payrun.apply("take-back", text);
      const id = await payrun.launch("take-back");
      await payrun.startWorker();
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done).toMatchObject({
        phase: "completed",
        totalCents: 108_00,
        payments: [{ payableId: bill?.id, state: "cancelled" }],
      });
      await control.faults();
      await weeksPass(payrun);
      await expectBank(payrun, [[bill, 0]]);
      await keepHistory(payrun, id, "cancel-scheduled-under-way");
    },
  );

  test.runIf(isLong)(
    "a payment that is with the bank already is too late to cancel, and is paid once",
    async ({ payrun }) => {
      const { bill, paymentId } = await scheduledBill(payrun, 106_00);
      await payrun.sandbox.control.advance("P4D");
      const id = await askToCancel(payrun, [paymentId]);
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done.payments[0]).toMatchObject({ state: "too-late" });
      expect(await cancelKeys(payrun, paymentId)).toEqual([]);
      await weeksPass(payrun);
      await expectBank(payrun, [[bill, 106_00]]);
    },
  );

  test("several scheduled payments of one bill are reported as impossible to cancel", async ({
    payrun,
  }) => {
    const [bill] = await bills(payrun.sandbox, [300_00]);
    if (bill === undefined) throw new Error("no bill");
    const [first] = await pay(payrun, bill, { amountCents: 100_00 });
    const [second] = await pay(payrun, bill, { amountCents: 200_00 });
    const ids = [first?.id ?? "", second?.id ?? ""];
    const id = await askToCancel(payrun, ids);
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done.counts).toEqual({ "several-scheduled": 2 });
    for (const paymentId of ids) expect(await cancelKeys(payrun, paymentId)).toEqual([]);
    await weeksPass(payrun);
    await expectBank(payrun, [[bill, 300_00]]);
  });

  test.runIf(isLong)(
    "a payment that was cancelled elsewhere counts as cancelled, and an unknown one as unknown",
    async ({ payrun }) => {
      const { bill, paymentId } = await scheduledBill(payrun, 107_00);
      await payrun.sandbox.control.faults([
        { ...CANCEL, when: "before", effect: "delay", delayMs: 2_000, times: 1 },
      ]);
      const id = await askToCancel(payrun, [paymentId, "pay_of_nobody"]);
      await payrun.sandbox.api("POST", `/v1/payments/${paymentId}/cancel`, {
        key: crypto.randomUUID(),
        body: {},
      });
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done.payments.map(({ state }) => state)).toEqual(["cancelled", "unknown"]);
      await weeksPass(payrun);
      await expectBank(payrun, [[bill, 0]]);
    },
  );
});

describe("a cancel without a clear answer", () => {
  test("a cancel that was applied without an answer is found by reading the payment, under one key", async ({
    payrun,
  }) => {
    const { bill, paymentId } = await scheduledBill(payrun, 201_00);
    await payrun.sandbox.control.faults([{ ...CANCEL, when: "after", effect: "drop", times: 1 }]);
    const id = await askToCancel(payrun, [paymentId]);
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done.payments[0]?.state).toBe("cancelled");
    expect(new Set(await cancelKeys(payrun, paymentId)).size).toBe(1);
    await weeksPass(payrun);
    await expectBank(payrun, [[bill, 0]]);
  });

  test.runIf(isLong)(
    "a cancel that was not applied is sent again under the same key",
    async ({ payrun }) => {
      const { bill, paymentId } = await scheduledBill(payrun, 202_00);
      await payrun.sandbox.control.faults([
        { ...CANCEL, when: "before", effect: "status", status: 503, times: 2 },
      ]);
      const id = await askToCancel(payrun, [paymentId]);
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done.payments[0]?.state).toBe("cancelled");
      const keys = await cancelKeys(payrun, paymentId);
      expect(keys.length).toBeGreaterThan(1);
      expect(new Set(keys).size).toBe(1);
      await weeksPass(payrun);
      await expectBank(payrun, [[bill, 0]]);
    },
  );

  test.runIf(isLong)(
    "after payment_unconfirmed a cancel waits for the window, reads, and takes the next key",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { bill, paymentId } = await scheduledBill(payrun, 203_00);
      await control.faults([
        { ...CANCEL, when: "during", effect: "status", status: 500, times: 1 },
      ]);
      const id = await askToCancel(payrun, [paymentId]);
      await untilCancellation(
        payrun,
        id,
        "unconfirmed",
        ({ payments }) => payments[0]?.reason?.includes("no conclusive response") === true,
      );
      expect(new Set(await cancelKeys(payrun, paymentId)).size).toBe(1);
      await control.advanceWire("PT9M");
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done.payments[0]?.state).toBe("cancelled");
      expect(new Set(await cancelKeys(payrun, paymentId)).size).toBe(2);
      await weeksPass(payrun);
      await expectBank(payrun, [[bill, 0]]);
      await keepHistory(payrun, id, "cancel-scheduled-unconfirmed");
    },
  );

  test.runIf(isLong)(
    "a cancel waits when the service asks it to slow down, and then goes through",
    async ({ payrun }) => {
      const { bill, paymentId } = await scheduledBill(payrun, 204_00);
      await payrun.sandbox.control.faults([
        { ...CANCEL, when: "before", effect: "status", status: 429, retryAfter: 1, times: 1 },
      ]);
      const id = await askToCancel(payrun, [paymentId]);
      const done = await untilCancellation(payrun, id, "ended", hasEnded);
      expect(done.payments[0]?.state).toBe("cancelled");
      await expectBank(payrun, [[bill, 0]]);
    },
  );
});
