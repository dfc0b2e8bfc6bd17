import { describe, expect } from "vitest";
import { bills, type Bill } from "../support/bills.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { ended, expectBank, plannedScene, scenePlaybook, standing } from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { isLong } from "../support/long.ts";
import { payrunTest } from "../support/payrun-test.ts";

const test = payrunTest();
test.afterEach(({ payrun }) => payrun.sandbox.control.faults([]));

async function expectPaidOnce(payrun: TestPayrun, made: readonly Bill[]): Promise<void> {
  await expectBank(
    payrun,
    made.map((bill) => [bill, bill.amountCents]),
  );
}

describe("paying every bill exactly once", () => {
  test("each bill is paid once if the service answers 500 after it has paid", async ({
    payrun,
  }) => {
    const { runId, made } = await plannedScene(payrun, "after-paying", [100_00, 200_00]);
    await payrun.sandbox.control.faults([
      {
        method: "POST",
        path: "/v1/payments",
        when: "after",
        effect: "status",
        status: 500,
        times: 1,
      },
    ]);
    await approve(payrun, runId);
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: 2 });
    await expectPaidOnce(payrun, made);
  });

  test.runIf(isLong)(
    "each bill is paid once if the service answers 500 without having paid",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "before-paying", [100_00]);
      await payrun.sandbox.control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "before",
          effect: "status",
          status: 500,
          times: 2,
        },
      ]);
      await approve(payrun, runId);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 1 });
      await expectPaidOnce(payrun, made);
    },
  );

  test.runIf(isLong)("each bill is paid once if the answer is lost", async ({ payrun }) => {
    const { runId, made } = await plannedScene(payrun, "answer-lost", [100_00, 200_00]);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "drop", times: 2 },
    ]);
    await approve(payrun, runId);
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: 2 });
    await expectPaidOnce(payrun, made);
  });

  test.runIf(isLong)(
    "each bill is paid once if the webhook arrives before the answer",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "webhook-first", [100_00]);
      await payrun.sandbox.control.faults([
        {
          method: "POST",
          path: "/v1/payments",
          when: "after",
          effect: "delay",
          delayMs: 2_500,
          times: 1,
        },
      ]);
      await approve(payrun, runId);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 1 });
      await expectPaidOnce(payrun, made);
    },
  );

  test.runIf(isLong)(
    "each bill is paid once if webhooks are lost, duplicated and reordered",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(
        payrun,
        "webhooks-astray",
        [100_00, 200_00, 300_00, 400_00],
      );
      await payrun.sandbox.control.faults([], { lose: 0.5, duplicate: 0.5, reorder: 0.5, seed: 7 });
      await approve(payrun, runId);
      const done = await ended(payrun, runId);
      expect(standing(done)).toEqual({ settled: 4 });
      await expectPaidOnce(payrun, made);
    },
  );

  test.runIf(isLong)(
    "each bill is paid once if two runs select the same bills at once",
    async ({ payrun }) => {
      const made = await bills(payrun.sandbox, [100_00, 200_00, 300_00], { description: "both" });
      await payrun.apply("first", scenePlaybook("both"));
      await payrun.apply("second", scenePlaybook("both"));
      const [first, second] = await Promise.all([payrun.launch("first"), payrun.launch("second")]);
      const planned = ({ phase }: { phase: string }): boolean => phase !== "planning";
      await payrun.until(first, "planned", planned);
      await payrun.until(second, "planned", planned);
      for (const runId of [first, second]) {
        if ((await payrun.status(runId)).phase === "awaiting-approval")
          await approve(payrun, runId);
      }
      const ends = [await ended(payrun, first), await ended(payrun, second)];
      const settled = ends.reduce((sum, { counts }) => sum + (counts.settled ?? 0), 0);
      expect(settled).toBe(3);
      await expectPaidOnce(payrun, made);
    },
  );

  test.runIf(isLong)(
    "each bill is paid once if a person pays in the dashboard between plan and payment",
    async ({ payrun }) => {
      const { runId, made } = await plannedScene(payrun, "dashboard", [100_00, 200_00]);
      const [theirs, ours] = made;
      const { body } = await payrun.sandbox.api<{ items: { id: string }[] }>(
        "GET",
        "/v1/bank-accounts",
      );
      const paid = await payrun.sandbox.api("POST", "/v1/payments", {
        key: "dashboard-1",
        body: {
          payableId: theirs?.id,
          bankAccountId: body.items[0]?.id,
          paymentRail: "PROVIDER",
          achAuthorizationAccepted: true,
        },
      });
      expect(paid.status, paid.text).toBe(201);
      await approve(payrun, runId);
      const done = await ended(payrun, runId);
      const state = (id: string | undefined): string | undefined =>
        done.payments.find(({ payableId }) => payableId === id)?.state;
      expect(state(theirs?.id)).toBe("paid-elsewhere");
      expect(state(ours?.id)).toBe("settled");
      await expectPaidOnce(payrun, made);
    },
  );
});
