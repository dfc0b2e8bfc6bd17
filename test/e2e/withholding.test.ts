import { describe, expect } from "vitest";
import { refundLateFromMs } from "../../src/domain/cancellations/cut-off.ts";
import { isNotified } from "../../src/store/notices/notices.ts";
import { bills } from "../support/bills.ts";
import {
  askToCancel,
  cancellation,
  hasEnded,
  heldByProvider,
  pay,
  untilCancellation,
} from "../support/cancellations.ts";
import { keepHistory } from "../support/keep-history.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { nextQuietMonday } from "../support/quiet-monday.ts";
import { clockNoticed, expectBank, lineOf, plannedScene } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest({ webhooks: false });

/** Advances the bank's clock until all money that will move has moved. */
async function weeksPass(payrun: TestPayrun): Promise<void> {
  await payrun.sandbox.control.advance("P14D");
}

describe("cancelling a held payment", () => {
  test("a payment that the service holds is refunded at once", async ({ payrun }) => {
    const [bill] = await bills(payrun.sandbox, [301_00]);
    if (bill === undefined) throw new Error("no bill");
    const { control } = payrun.sandbox;
    await control.outcome({ match: { payableId: bill.id }, outcome: "hold" });
    const [payment] = await pay(payrun, bill, { scheduledAt: undefined });
    await control.advance("PT1M");
    const id = await askToCancel(payrun, [payment?.id ?? ""]);
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done).toMatchObject({ phase: "completed", payments: [{ state: "refunded" }] });
    await weeksPass(payrun);
    await expectBank(payrun, [[bill, 0]]);
  });

  test("a refund of a payment that the bank holds is followed to its end, and a late one causes a notice", async ({
    payrun,
  }) => {
    const { bill, paymentId } = await heldByProvider(payrun, 302_00);
    await payrun.apply(
      "one-vendor",
      [
        "kind: cancel-scheduled",
        `choose: { vendor: ${bill.contactId} }`,
        "then: { refundIn: 1 business day }",
        "",
      ].join("\n"),
    );
    const id = await payrun.launch("one-vendor");
    expect(id).toBe("cancel-scheduled-payments/default/one-vendor");
    const following = await untilCancellation(
      payrun,
      id,
      "on its way back",
      ({ phase }) => phase === "following",
    );
    expect(following).toMatchObject({ phase: "following", payments: [{ paymentId }] });
    const { bank } = await payrun.sandbox.control.clock();
    const lateFromMs = refundLateFromMs(Date.parse(bank), 1);
    await payrun.sandbox.control.setClock(new Date(lateFromMs + 60_000).toISOString());
    const fact = { businessId: payrun.sandbox.business.businessId, kind: "refund-late" };
    const told = () => isNotified(payrun.store.db, { ...fact, factKey: `${id}/${paymentId}` });
    await expect.poll(told).toBe(true);
    expect((await cancellation(payrun, id)).payments[0]?.reason).toMatch(/takes longer than 1/);
    await weeksPass(payrun);
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done).toMatchObject({ phase: "completed", payments: [{ state: "refunded" }] });
    await expectBank(payrun, [[bill, 0]]);
    await keepHistory(payrun, id, "cancel-scheduled-refund");
  });
});

describe("holding back bills of a run", () => {
  // A banking day that has not ended, before another one: there is time to release.
  test.beforeEach(async ({ payrun }) => {
    const { control } = payrun.sandbox;
    await control.setClock(nextQuietMonday(Date.parse((await control.clock()).bank)));
    await clockNoticed();
  });

  const withhold = (run: string, where: string): string =>
    [
      "kind: hold",
      `choose: { run: ${run}, where: '${where}' }`,
      'unless: { releasedBy: [controller], until: "17:00 business day before" }',
      "",
    ].join("\n");

  test("held-back bills are not sent until the role releases them, and the others are paid", async ({
    payrun,
  }) => {
    await payrun.apply("watch-large", withhold("watched", "payable.amountCents > 50000"));
    const { runId, made } = await plannedScene(payrun, "watched", [510_00, 520_00, 90_00]);
    const [released, kept, small] = made;
    const id = `cancel-scheduled-payments/default/watch-large/${runId.split("/").slice(2).join("/")}`;
    const now = await untilCancellation(
      payrun,
      id,
      "withheld",
      ({ counts, phase }) => counts.withheld === 2 && phase === "withholding",
    );
    expect(now.needsAction).toBe(true);
    await approve(payrun, runId);
    await payrun.until(
      runId,
      "paid but for what is held back",
      ({ counts }) => counts.scheduled === 1 && counts["on-hold"] === 2,
    );
    const holdOf = (payableId?: string): string =>
      now.payments.find((each) => each.payableId === payableId)?.holdId ?? "";
    const path = `/v1/holds/${holdOf(released?.id)}`;
    expect((await payrun.call("operator", "DELETE", path)).status).toBe(403);
    expect((await payrun.call("controller", "DELETE", path)).status).toBe(200);
    await payrun.until(runId, "released", ({ counts }) => counts.scheduled === 2);
    const partly = await cancellation(payrun, id);
    expect(partly.counts).toEqual({ withheld: 1, released: 1 });
    // The next days pass without a release of the other bill.
    await weeksPass(payrun);
    const done = await untilCancellation(payrun, id, "ended", hasEnded);
    const left = done.payments.find((each) => each.payableId === kept?.id);
    expect(left).toMatchObject({ state: "withheld", paymentId: null });
    expect(left?.reason).toMatch(/Nobody released it in time/);
    expect(lineOf(await payrun.status(runId), kept).state).toBe("on-hold");
    await expectBank(payrun, [
      [released, 510_00],
      [kept, 0],
      [small, 90_00],
    ]);
    await keepHistory(payrun, id, "cancel-scheduled-withheld");
    // Even after its time only the role that the playbook names can release it.
    const late = `/v1/holds/${holdOf(kept?.id)}`;
    expect((await payrun.call("operator", "DELETE", late)).status).toBe(403);
    expect((await payrun.call("controller", "DELETE", late)).status).toBe(200);
    expect((await cancellation(payrun, id)).counts).toEqual({ released: 2 });
  });

  test("launching a hold playbook for a run under way reports what is with the service already", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "under-way", [610_00, 620_00]);
    const [sent, kept] = made;
    await payrun.call("operator", "POST", "/v1/holds", { payableId: kept?.id, reason: "later" });
    await approve(payrun, runId);
    await payrun.until(runId, "partly sent", ({ counts }) => counts.scheduled === 1);
    await payrun.apply("too-much", withhold("under-way", "payable.amountCents > 1"));
    const id = await payrun.launch("too-much");
    const now = await untilCancellation(
      payrun,
      id,
      "chosen",
      ({ payments }) => payments.length === 2,
    );
    const state = (payableId?: string) =>
      now.payments.find((each) => each.payableId === payableId)?.state;
    expect([state(sent?.id), state(kept?.id)]).toEqual(["too-late", "withheld"]);
    const reason = now.payments.find((each) => each.payableId === sent?.id)?.reason;
    expect(reason).toMatch(/payrun cancel-scheduled pay/);
  });
});
