import { msToTs } from "@temporalio/common/lib/time.js";
import { describe, expect, test } from "vitest";
import { bills, PAY_ALL } from "../support/bills.ts";
import { isLong } from "../support/long.ts";
import { expectAllDone, losableTemporal } from "../support/lost-data.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { paymentRequests } from "../support/scene.ts";
import { approve, plannedRun, untilEnded } from "../support/stack.ts";

type Planned = Awaited<ReturnType<typeof plannedRun>>;

const server = losableTemporal();

/** Deletes the namespace with everything in it, and makes an empty one of the same name. */
async function remakeNamespace({ temporal, namespace }: TestPayrun): Promise<void> {
  const { operatorService, workflowService } = temporal.connection;
  await operatorService.deleteNamespace({ namespace });
  await expect
    .poll(
      async () => {
        const day = msToTs("1 day");
        const made = { namespace, workflowExecutionRetentionPeriod: day };
        return workflowService.registerNamespace(made).then(
          () => "made",
          () => "still there",
        );
      },
      { interval: 500 },
    )
    .toBe("made");
  // All of the server knows it within seconds.
  await expect
    .poll(
      () =>
        temporal.workflow.count().then(
          () => "ready",
          () => "not yet",
        ),
      { interval: 500 },
    )
    .toBe("ready");
}

describe("losing Temporal's data while paying", () => {
  const paying = async (): Promise<{ payrun: TestPayrun } & Planned> => {
    const payrun = await server.start();
    const planned = await plannedRun(payrun, [10_00, 20_00, 30_00]);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "delay", delayMs: 3_000 },
    ]);
    await approve(payrun, planned.runId);
    // The payments are made; the answers are still on their way.
    await expect.poll(() => paymentRequests(payrun)).toBe(3);
    return { payrun, ...planned };
  };
  const expectSettled = async (
    payrun: TestPayrun,
    { runId, made }: Planned,
    expected: number,
  ): Promise<void> => {
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: expected });
    await expectAllDone(payrun, made);
  };

  test.runIf(isLong)(
    "losing Temporal's data and the worker while paying loses no bill and pays none twice",
    async () => {
      const { payrun, ...planned } = await paying();
      await payrun.killWorkers();
      await server.lose();
      await payrun.sandbox.control.faults([]);
      await payrun.startWorker();
      await expectSettled(payrun, planned, 3);
    },
  );

  test.runIf(isLong)(
    "worker and gateway recover by themselves from losing Temporal's data, and pay nothing twice",
    async () => {
      const { payrun, ...planned } = await paying();
      const [worker] = payrun.workers;
      await server.lose();
      await payrun.sandbox.control.faults([]);
      await expectSettled(payrun, planned, 3);
      // The same processes launch, notify and pay as before.
      expect(worker?.exitCode).toBeNull();
      await payrun.sandbox.control.setScale(1);
      const made = await bills(payrun.sandbox, [40_00]);
      await payrun.apply("next", PAY_ALL);
      const next = await payrun.launch("next");
      await payrun.untilPhase(next, "awaiting-approval");
      await approve(payrun, next);
      expect((await untilEnded(payrun, next)).counts.settled).toBe(1);
      await expectAllDone(payrun, [...planned.made, ...made]);
    },
  );
});

describe.runIf(isLong)("a namespace", () => {
  test("a namespace that is deleted and made again while paying loses no bill and pays none twice", async () => {
    const payrun = await server.start();
    const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
    await payrun.sandbox.control.faults([
      { method: "POST", path: "/v1/payments", when: "after", effect: "drop", times: 2 },
    ]);
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.planned === undefined);
    await payrun.killWorkers();
    await remakeNamespace(payrun);
    const isLost = (): Promise<boolean> =>
      payrun.temporal.workflow
        .getHandle(runId)
        .describe()
        .then(
          () => false,
          (error: unknown) => /not found/i.test(String(error)),
        );
    // The server may still answer from the old namespace for some seconds.
    await expect.poll(isLost, { interval: 500 }).toBe(true);
    await payrun.startWorker();
    const done = await untilEnded(payrun, runId);
    expect(done.counts).toEqual({ settled: 2 });
    await expectAllDone(payrun, made);
  });
});
