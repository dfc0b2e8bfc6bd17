import { describe, expect } from "vitest";
import { vendor, bankDate } from "../support/bills.ts";
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
  standing,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";

const test = payrunTest({ achAuthorization: false });

/** Enters a bill of an existing vendor under a scene's name and launches the scene's playbook. */
async function oneMore(
  payrun: TestPayrun,
  name: string,
  bill: { contactId: string; totalAmountCents: number },
  limits: string,
): Promise<{ runId: string; id: string }> {
  const dueDate = await bankDate(payrun.sandbox, 5);
  const { id } = await payrun.sandbox.control.createPayable({
    ...bill,
    dueDate,
    description: name,
  });
  await payrun.apply(name, scenePlaybook(name, { more: [`limits: ${limits}`] }));
  const runId = await payrun.launch(name);
  await payrun.until(runId, "planned", ({ phase }) => phase !== "planning");
  return { runId, id };
}

describe("limits", () => {
  test.runIf(isLong)(
    "a bill above the limit for one bill waits for a person, and the other bills are paid",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "bill-limit", [90_00, 110_00], {
        more: ["limits: { bill: $100 }"],
      });
      await approve(payrun, runId);
      const done = await ended(payrun, runId);
      expect(lineOf(done, made[1])).toMatchObject({
        state: "parked",
        reasonCode: "over_bill_limit",
      });
      await expectBank(payrun, [
        [made[0], 90_00],
        [made[1], 0],
      ]);
    },
  );

  test.runIf(isLong)(
    "a vendor's weekly limit counts what other runs of the week have paid",
    async ({ payrun }) => {
      const contactId = await vendor(payrun.sandbox, "Weekly Vendor");
      const limits = "{ vendorPerWeek: $100 }";
      const first = await oneMore(payrun, "week-a", { contactId, totalAmountCents: 70_00 }, limits);
      const second = await oneMore(
        payrun,
        "week-b",
        { contactId, totalAmountCents: 50_00 },
        limits,
      );
      // Both were planned before either was paid; the second one to lease finds the limit used up.
      await approve(payrun, first.runId);
      await payrun.until(first.runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      if ((await payrun.status(second.runId)).phase === "awaiting-approval") {
        await approve(payrun, second.runId);
      }
      const over = await payrun.until(second.runId, "parked", ({ counts }) => counts.parked === 1);
      expect(over.payments[0]).toMatchObject({ reasonCode: "over_vendor_week_limit" });
      const third = await oneMore(payrun, "week-c", { contactId, totalAmountCents: 30_00 }, limits);
      await approve(payrun, third.runId);
      await payrun.until(third.runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      const payments = await payrun.sandbox.api<{ items: { amountCents: number }[] }>(
        "GET",
        `/v1/payments?contactId=${contactId}`,
      );
      expect(payments.body.items.map(({ amountCents }) => amountCents)).toEqual([30_00, 70_00]);
    },
  );

  test.runIf(isLong)(
    "the business's weekly limit parks the bill of a run that would exceed it",
    async ({ payrun }) => {
      // Two weeks later, so that no payment of another test counts in this week.
      await payrun.sandbox.control.advance("P14D");
      await clockNoticed();
      const { runId, made } = await plannedScene(payrun, "business-limit", [60_00, 60_00], {
        more: ["limits: { businessPerWeek: $100 }"],
      });
      await approve(payrun, runId);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 1, parked: 1 });
      const parked = done.payments.find(({ state }) => state === "parked");
      expect(parked?.reasonCode).toBe("over_business_week_limit");
      const sent = await Promise.all(made.map((bill) => paymentsOf(payrun, bill)));
      expect(sent.flat()).toHaveLength(1);
    },
  );
});

describe("a line that needs more approvals than other lines", () => {
  test.runIf(isLong)(
    "a line waits for its second approver without holding up other lines",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "quorum", [50_00, 500_00], {
        approve: [
          "{ over: $100, by: [controller, owner], quorum: 2 }",
          "{ by: [controller, owner] }",
        ],
      });
      await approve(payrun, runId);
      const partly = await payrun.until(
        runId,
        "partly paid",
        ({ counts }) => counts.scheduled === 1 && counts["awaiting-approval"] === 1,
      );
      expect(lineOf(partly, made[1])).toMatchObject({ approvedBy: ["controller"], quorum: 2 });
      await approve(payrun, runId);
      expect(await paymentsOf(payrun, made[1])).toEqual([]);
      const second = await payrun.decide("owner", runId, "approve");
      expect(second.status).toBe(200);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 2 });
      await expectBank(payrun, [
        [made[0], 50_00],
        [made[1], 500_00],
      ]);
    },
  );
});

describe("a missing ACH debit authorization", () => {
  test.runIf(isLong)(
    "a missing ACH debit authorization fails the plan with what to do, and leaves the bills free",
    async ({ payrun }) => {
      const { body } = await payrun.sandbox.api<{ items: { id: string }[] }>(
        "GET",
        "/v1/bank-accounts",
      );
      const from = body.items[0]?.id ?? "";
      const { runId, made } = await plannedScene(payrun, "no-ach", [40_00], {
        pay: `{ on: next-business-day, from: ${from} }`,
      });
      const failed = await payrun.untilPhase(runId, "failed");
      expect(failed.failure).toMatch(/ACH debit authorization/);
      await keepHistory(payrun, runId, "pay-run-failed");
      await payrun.apply("no-ach-after", scenePlaybook("no-ach"));
      const next = await payrun.launch("no-ach-after");
      const planned = await payrun.untilPhase(next, "awaiting-approval");
      expect(planned.payments.map(({ payableId }) => payableId)).toEqual([made[0]?.id]);
    },
  );
});

describe("a bill of more than $100,000", () => {
  test.runIf(isLong)(
    "a bill of more than $100,000 is paid as several payments that are one line",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "split", [150_000_00]);
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
      const done = await ended(payrun, runId);
      const line = lineOf(done, made[0]);
      expect(line).toMatchObject({ state: "settled", attempts: 1 });
      expect(line.paymentIds).toHaveLength(2);
      await expectBank(payrun, [[made[0], 150_000_00]]);
    },
  );

  test.runIf(isLong)(
    "a split bill with a failed part is parked, and the next run pays the rest after a new approval",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { runId, made } = await plannedScene(payrun, "split-failing", [150_000_00]);
      const [bill] = made;
      await approve(payrun, runId);
      await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      const payments = await paymentsOf(payrun, bill);
      const small = payments.find(({ amountCents }) => amountCents === 50_000_00);
      await control.outcome({
        match: { paymentId: small?.id ?? "" },
        outcome: "fail",
        code: "R01",
      });
      const done = await ended(payrun, runId);
      expect(lineOf(done, bill)).toMatchObject({ state: "parked", reasonCode: "partly_failed" });
      await expectBank(payrun, [[bill, 100_000_00]]);
      const body = { action: "retry", reason: "money is in" };
      const resolved = await payrun.call(
        "operator",
        "POST",
        `/v1/payables/${bill?.id}/resolution`,
        body,
      );
      expect(resolved.status).toBe(200);
      await payrun.until(
        runId,
        "left to the next run",
        (status) => lineOf(status, bill).reasonCode === "changed_since_approval",
      );
      await payrun.apply("split-rest", scenePlaybook("split-failing"));
      const next = await payrun.launch("split-rest");
      const planned = await payrun.untilPhase(next, "awaiting-approval");
      expect(lineOf(planned, bill).amountCents).toBe(50_000_00);
      await approve(payrun, next);
      const paid = await ended(payrun, next);
      expect(standing(paid)).toEqual({ settled: 1 });
      await expectBank(payrun, [[bill, 150_000_00]]);
    },
  );
});
