import { describe, expect, test } from "vitest";
import { bills, PAY_ALL } from "../support/bills.ts";
import { paidOnce, type TestPayrun } from "../support/payrun.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../support/stack.ts";

const start = stacks();

async function expectPaidOnce(payrun: TestPayrun, made: Parameters<typeof each>[0]): Promise<void> {
  const { actual, expected } = await paidOnce(payrun, each(made));
  expect(actual).toEqual(expected);
}

describe("every payable's money moves exactly once or not at all", () => {
  test("where the service answers 500 after it has paid", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
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
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 2 });
    await expectPaidOnce(payrun, made);
  });

  test("where the service answers 500 and has not paid", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00]);
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
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 1 });
    await expectPaidOnce(payrun, made);
  });

  test("where the answer is lost on its way", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "drop", times: 2 },
    ]);
    await approve(payrun, runId);
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 2 });
    await expectPaidOnce(payrun, made);
  });

  test("where the webhook arrives before the answer", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00]);
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
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 1 });
    await expectPaidOnce(payrun, made);
  });

  test("where webhooks are lost, doubled and out of order", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00, 300_00, 400_00]);
    await payrun.sandbox.control.faults([], { lose: 0.5, duplicate: 0.5, reorder: 0.5, seed: 7 });
    await approve(payrun, runId);
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 4 });
    await expectPaidOnce(payrun, made);
  });

  test("where the same payables are in two runs at once", async () => {
    const payrun = await start();
    const made = await bills(payrun.sandbox, [100_00, 200_00, 300_00]);
    await payrun.apply("first", PAY_ALL);
    await payrun.apply("second", PAY_ALL);
    const [first, second] = await Promise.all([payrun.launch("first"), payrun.launch("second")]);
    const planned = ({ phase }: { phase: string }): boolean => phase !== "planning";
    await payrun.until(first, "planned", planned);
    await payrun.until(second, "planned", planned);
    for (const runId of [first, second]) {
      if ((await payrun.status(runId)).phase === "awaiting-approval") await approve(payrun, runId);
    }
    const ends = [await untilEnded(payrun, first), await untilEnded(payrun, second)];
    const settled = ends.reduce((sum, { counts }) => sum + (counts.settled ?? 0), 0);
    expect(settled).toBe(3);
    await expectPaidOnce(payrun, made);
  });

  test("where somebody pays in the dashboard between plan and payment", async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
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
    const done = await untilEnded(payrun, runId);
    const state = (id: string | undefined): string | undefined =>
      done.payments.find(({ payableId }) => payableId === id)?.state;
    expect(state(theirs?.id)).toBe("paid-elsewhere");
    expect(state(ours?.id)).toBe("settled");
    await expectPaidOnce(payrun, made);
  });
});
