import { describe, expect } from "vitest";
import type { Bill } from "../support/bills.ts";
import { keepHistory } from "../support/keep-history.ts";
import type { TestPayrun } from "../support/payrun.ts";
import {
  clockNoticed,
  ended,
  expectBank,
  lineOf,
  paymentsOf,
  plannedScene,
  scenePlaybook,
  type Scene,
  standing,
  untilEachHasPayments,
} from "../support/scene.ts";
import type { Json } from "../support/sandbox.ts";
import { approve } from "../support/stack.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";

const test = payrunTest();

async function hold(payrun: TestPayrun, target: Json): Promise<string> {
  const body = { ...target, reason: "waiting for a credit note" };
  const answer = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

async function release(payrun: TestPayrun, holdId: string): Promise<void> {
  expect((await payrun.call("operator", "DELETE", `/v1/holds/${holdId}`)).status).toBe(200);
}

async function cancel(payrun: TestPayrun, runId: string): Promise<void> {
  const path = `/v1/runs/${encodeURIComponent(runId)}/cancel`;
  const { status } = await payrun.call("operator", "POST", path, {});
  expect(status).toBeLessThan(300);
}

async function expectUnpaid(payrun: TestPayrun, bill: Bill | undefined): Promise<void> {
  expect(await paymentsOf(payrun, bill)).toEqual([]);
}

describe("a hold that is placed after the plan", () => {
  test("a hold stops exactly what it names, and the held bills are paid once it is released", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "held", [110_00, 120_00, 130_00]);
    const [byBill, byVendor, free] = made;
    const holds = [
      await hold(payrun, { payableId: byBill?.id }),
      await hold(payrun, { contactId: byVendor?.contactId }),
    ];
    await approve(payrun, runId);
    const stopped = await payrun.until(
      runId,
      "paid but for what is held",
      ({ counts, waitingFor }) =>
        counts.scheduled === 1 &&
        counts["on-hold"] === 2 &&
        /2 bills on hold/.test(waitingFor ?? ""),
    );
    expect(lineOf(stopped, free).state).toBe("scheduled");
    expect(lineOf(stopped, byBill).reason).toMatch(/waiting for a credit note/);
    await expectUnpaid(payrun, byBill);
    await expectUnpaid(payrun, byVendor);
    for (const id of holds) await release(payrun, id);
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: 3 });
    await expectBank(
      payrun,
      made.map((bill) => [bill, bill.amountCents]),
    );
  });

  test.for<[string, (runId: string) => Json]>([
    ["run", (runId) => ({ run: runId })],
    ["playbook", () => ({ playbook: "stopped-playbook" })],
    ["source", () => ({ source: "balance" })],
    ["all", () => ({ all: true })],
  ])("a hold on %s stops every bill of the run", async ([scope, target], { payrun }) => {
    const { runId, made } = await plannedScene(payrun, `stopped-${scope}`, [210_00, 220_00]);
    const holdId = await hold(payrun, target(runId));
    await approve(payrun, runId);
    await payrun.until(runId, "on hold", ({ counts }) => counts["on-hold"] === 2);
    for (const bill of made) await expectUnpaid(payrun, bill);
    await cancel(payrun, runId);
    const done = await payrun.untilPhase(runId, "cancelled");
    expect(standing(done)).toEqual({ cancelled: 2 });
    await release(payrun, holdId);
    for (const bill of made) await expectUnpaid(payrun, bill);
  });

  test.runIf(isLong)(
    "a hold keeps a failed bill from being retried until it is released",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { runId, made } = await plannedScene(payrun, "held-retry", [310_00]);
      const [bill] = made;
      await control.outcome({
        match: { payableId: bill?.id ?? "" },
        outcome: "fail",
        code: "R01",
        times: 1,
      });
      await approve(payrun, runId);
      await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      const holdId = await hold(payrun, { payableId: bill?.id });
      // Days are stepped over and never run: on a slow machine the approval would end meanwhile.
      await control.advance("P8D");
      await payrun.until(runId, "handed over", ({ counts }) => counts.retrying === 1);
      // A week: the day of the retry has passed.
      await control.advance("P7D");
      await clockNoticed();
      const path = `/v1/runs/${encodeURIComponent(`retry-failed-payment/default/${bill?.id}`)}`;
      await expect.poll(async () => (await payrun.call("launcher", "GET", path)).status).toBe(200);
      expect(await paymentsOf(payrun, bill)).toHaveLength(1);
      await release(payrun, holdId);
      await untilEachHasPayments(payrun, [bill], 2, 60_000);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 1 });
      await expectBank(payrun, [[bill, 310_00]]);
    },
  );
});

describe("a cancelled run", () => {
  test("a cancelled run releases unsent bills and follows sent ones to their end", async ({
    payrun,
  }) => {
    const { control } = payrun.sandbox;
    const { runId, made } = await plannedScene(payrun, "cancelled", [410_00, 420_00]);
    const [kept, sent] = made;
    const holdId = await hold(payrun, { payableId: kept?.id });
    await approve(payrun, runId);
    await payrun.until(runId, "partly sent", ({ counts }) => counts.scheduled === 1);
    await cancel(payrun, runId);
    await payrun.until(runId, "released", ({ counts }) => counts.cancelled === 1);
    await control.setScale(43_200);
    const done = await payrun.untilPhase(runId, "cancelled");
    await control.setScale(1);
    await keepHistory(payrun, runId, "pay-run-cancelled");
    expect(lineOf(done, kept).state).toBe("cancelled");
    expect(lineOf(done, sent).state).toBe("settled");
    await expectBank(payrun, [
      [kept, 0],
      [sent, 420_00],
    ]);
    // Another run can plan the released bill.
    await release(payrun, holdId);
    await payrun.apply("after-cancel", scenePlaybook("cancelled"));
    const next = await payrun.launch("after-cancel");
    const planned = await payrun.untilPhase(next, "awaiting-approval");
    expect(planned.payments.map(({ payableId }) => payableId)).toEqual([kept?.id]);
    await cancel(payrun, next);
    await payrun.untilPhase(next, "cancelled");
  });

  test.runIf(isLong)(
    "a cancelled run does not retry a payment that fails afterwards",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { runId, made } = await plannedScene(payrun, "cancelled-failing", [510_00]);
      const [bill] = made;
      await control.outcome({ match: { payableId: bill?.id ?? "" }, outcome: "fail", code: "R01" });
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
      await cancel(payrun, runId);
      await control.setScale(43_200);
      const done = await payrun.untilPhase(runId, "cancelled");
      await control.setScale(1);
      expect(lineOf(done, bill)).toMatchObject({ state: "parked", reasonCode: "R01" });
      expect(lineOf(done, bill).reason).toMatch(/cancelled/);
      expect(await paymentsOf(payrun, bill)).toHaveLength(1);
    },
  );

  test.runIf(isLong)(
    "a cancelled run settles a line whose request was under way, and pays no other",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const scene: Scene = await plannedScene(payrun, "cancelled-midway", [610_00, 620_00]);
      await control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "after",
          effect: "status",
          status: 500,
          times: 1,
        },
        {
          method: "POST",
          path: "/v1/payments",
          when: "before",
          effect: "delay",
          delayMs: 1_500,
          times: 1,
        },
      ]);
      await approve(payrun, scene.runId);
      await payrun.until(scene.runId, "paying", ({ counts }) => (counts.paying ?? 0) > 0);
      await cancel(payrun, scene.runId);
      await control.advanceWire("PT6M");
      await control.setScale(43_200);
      const done = await payrun.untilPhase(scene.runId, "cancelled", 90_000);
      await control.setScale(1);
      await control.faults([]);
      const expected = await Promise.all(
        scene.made.map(async (bill) => {
          const payments = await paymentsOf(payrun, bill);
          expect(payments.length).toBeLessThanOrEqual(1);
          const isPaid = payments.length === 1;
          expect(lineOf(done, bill).state).toBe(isPaid ? "settled" : "cancelled");
          return [bill, isPaid ? bill.amountCents : 0] as const;
        }),
      );
      await expectBank(payrun, expected);
    },
  );
});

describe("time that passes before a decision", () => {
  test("a run whose approval is not given in time ends as expired", async ({ payrun }) => {
    const { runId, made } = await plannedScene(payrun, "expired", [710_00]);
    await payrun.sandbox.control.advance("P31D");
    const done = await payrun.untilPhase(runId, "expired");
    await keepHistory(payrun, runId, "pay-run-expired");
    expect(lineOf(done, made[0])).toMatchObject({
      state: "parked",
      reasonCode: "approval_expired",
    });
    await expectUnpaid(payrun, made[0]);
  });

  test.runIf(isLong)(
    "a late bill moves to the next business day if the playbook says next-business-day",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "late-moves", [720_00]);
      const planned = lineOf(await payrun.status(runId), made[0]).executionDate ?? "";
      await payrun.sandbox.control.advance("P7D");
      await clockNoticed();
      await approve(payrun, runId);
      await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      const [payment] = await paymentsOf(payrun, made[0]);
      expect((payment?.scheduledAt ?? "") > planned).toBe(true);
    },
  );

  test.runIf(isLong)(
    "a late bill needs a new approval if the playbook says ask, and is paid on the approved date",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "late-asks", [730_00], { late: "ask" });
      const before = await payrun.status(runId);
      await payrun.sandbox.control.advance("P7D");
      await clockNoticed();
      await approve(payrun, runId);
      const again = await payrun.until(
        runId,
        "asked again",
        (status) => status.planHash !== before.planHash && status.counts["awaiting-approval"] === 1,
      );
      expect(lineOf(again, made[0]).reason).toMatch(/has passed/);
      await expectUnpaid(payrun, made[0]);
      await approve(payrun, runId);
      await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      const [payment] = await paymentsOf(payrun, made[0]);
      expect(payment?.scheduledAt.slice(0, 10)).toBe(lineOf(again, made[0]).executionDate);
    },
  );
});
