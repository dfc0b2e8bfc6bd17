import { randomUUID } from "node:crypto";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { expect, inject, test } from "vitest";
import type { Assessment, RetryAssessment } from "../../src/contracts/activities.ts";
import { SIGNAL, UPDATE, WORKFLOW } from "../../src/contracts/names.ts";

/** Runs a workflow with these activities, which stand in for a store whose state is hard to time. */
async function run(
  name: string,
  input: object,
  activities: (
    signal: () => Promise<void>,
    handle: WorkflowHandle,
  ) => Record<string, (...args: never[]) => unknown>,
): Promise<unknown> {
  const address = inject("temporalAddress");
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection });
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const workflowId = `ending-${randomUUID()}`;
  const handle = client.workflow.getHandle(workflowId);
  const signal = () => handle.signal(SIGNAL.eventsArrived);
  try {
    const worker = await Worker.create({
      connection: native,
      taskQueue: workflowId,
      workflowBundle,
      activities: activities(signal, handle),
    });
    const outcome: unknown = await worker.runUntil(
      client.workflow.execute(name, { workflowId, taskQueue: workflowId, args: [input] }),
    );
    await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), workflowId);
    return outcome;
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

test("a flood of decisions to Temporal is counted in the trail, without an entry or an activity for each", async () => {
  const told: { readonly unread: number }[] = [];
  let verified = 0;
  let answer = "";
  let looks = 0;
  const begun = { ended: false, phase: "settling", planned: true };
  await run(WORKFLOW.payRun, { runId: "x" }, (_signal, handle) => ({
    beginRun: () => begun,
    assessRun: async () => {
      looks += 1;
      if (looks > 1) return ENDED;
      for (let sent = 0; sent < 215; sent += 1) await handle.signal(SIGNAL.decide, "x");
      answer = await handle
        .executeUpdate(UPDATE.decide, { args: ["x"] })
        .then(String, (error: Error) => (error.cause as Error).message);
      return { ...ENDED, ended: false };
    },
    verifyDecision: () => {
      verified += 1;
      return { accepted: false, reason: "no signed decision" };
    },
    recordUnread: (input: { unread: number }) => {
      told.push(input);
    },
  }));
  expect(verified).toBe(200);
  expect(answer).toContain("takes no more decisions directly");
  // Activities that were begun together may run in any order.
  expect(told.toSorted((one, other) => one.unread - other.unread)).toEqual(
    [0, 1, 10, 15].map((unread) => ({ runId: "x", read: 200, unread })),
  );
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
