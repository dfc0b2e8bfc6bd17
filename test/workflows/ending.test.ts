import { randomUUID } from "node:crypto";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { expect, inject, test } from "vitest";
import type { Assessment, RetryAssessment } from "../../src/contracts/activities.ts";
import { SIGNAL, WORKFLOW } from "../../src/contracts/names.ts";

/** Runs a workflow with these activities, which stand in for a store whose state is hard to time. */
async function run(
  name: string,
  input: object,
  activities: (signal: () => Promise<void>) => Record<string, (...args: never[]) => unknown>,
): Promise<unknown> {
  const address = inject("temporalAddress");
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection });
  const workflowId = `ending-${randomUUID()}`;
  const signal = () => client.workflow.getHandle(workflowId).signal(SIGNAL.eventsArrived);
  try {
    const worker = await Worker.create({
      connection: native,
      taskQueue: workflowId,
      workflowBundle: { codePath: inject("workflowBundlePath") },
      activities: activities(signal),
    });
    return await worker.runUntil(
      client.workflow.execute(name, { workflowId, taskQueue: workflowId, args: [input] }),
    );
  } finally {
    await connection.close();
    await native.close();
  }
}

const ENDED: Assessment = {
  phase: "completed",
  ended: true,
  waitingFor: null,
  toFund: 0,
  toPay: 0,
  toFollow: 0,
  wakeInMs: 1_000,
  needsAction: false,
  exceptions: 0,
  totalCents: 0,
  payDate: null,
  details: "",
};

test("an event that comes while a run makes its last look is still followed", async () => {
  let looks = 0;
  let follows = 0;
  const begun = { ended: false, phase: "settling", planned: true };
  const outcome = await run(WORKFLOW.payRun, { runId: "x" }, (signal) => ({
    beginRun: () => begun,
    assessRun: async () => {
      looks += 1;
      if (looks === 1) await signal();
      return { ...ENDED, toFollow: looks === 2 ? 1 : 0 };
    },
    followRun: () => {
      follows += 1;
      return { changed: 1 };
    },
  }));
  expect(outcome).toBe("completed");
  expect(follows).toBe(1);
});

test("an event that comes while a retry makes its last look is still looked at", async () => {
  let looks = 0;
  const ended: RetryAssessment = {
    phase: "ended",
    waitingFor: null,
    wakeInMs: 0,
    details: "",
    outcome: "settled",
  };
  const input = { business: "acme", payableId: "p1" };
  await run(WORKFLOW.retryFailedPayment, input, (signal) => ({
    assessRetry: async () => {
      looks += 1;
      if (looks === 1) await signal();
      return ended;
    },
  }));
  expect(looks).toBe(2);
});
