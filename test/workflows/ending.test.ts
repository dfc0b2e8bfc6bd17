import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { expect, inject, test } from "vitest";
import type {
  Assessment,
  RetryAssessment,
  SentDecisionAnswer,
} from "../../src/contracts/activities.ts";
import { MASS_QUEUE, SIGNAL, TASK_QUEUE, UPDATE } from "../../src/contracts/names.ts";
import { WORKFLOW } from "../../src/contracts/workflow-kinds.ts";
import { takeNamespace } from "../support/take-namespace.ts";

const namespace = takeNamespace();

/** Runs a workflow with activities that stand in for a store whose state is hard to time. */
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
  const client = new Client({ connection, namespace });
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const workflowId = `ending-${randomUUID()}`;
  const handle = client.workflow.getHandle(workflowId);
  const signal = () => handle.signal(SIGNAL.eventsArrived);
  try {
    const serve = (taskQueue: string, more: Partial<WorkerOptions> = {}): Promise<Worker> =>
      Worker.create({
        ...{ connection: native, namespace, taskQueue, ...more },
        activities: activities(signal, handle),
      });
    const masses = await Promise.all(Object.values(MASS_QUEUE).map((queue) => serve(queue)));
    const worker = await serve(TASK_QUEUE, { workflowBundle });
    const served = Promise.all(masses.map((each) => each.run()));
    const given = { workflowId, taskQueue: TASK_QUEUE, args: [input] };
    try {
      const outcome: unknown = await worker.runUntil(client.workflow.execute(name, given));
      await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), workflowId);
      return outcome;
    } finally {
      for (const each of masses) each.shutdown();
      await served;
    }
  } finally {
    await connection.close();
    await native.close();
  }
}

const NO_DECISION: SentDecisionAnswer = {
  ...{ accepted: false, code: "malformed", message: "no signed decision" },
};

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

test("an event during a run's last look is still followed up", async () => {
  let looks = 0;
  let follows = 0;
  const begun = { ended: false, phase: "settling", planned: true };
  const outcome = await run(WORKFLOW.payRun, { runId: "x" }, (signal) => ({
    openRun: () => begun,
    reviewRun: async () => {
      looks += 1;
      if (looks === 1) await signal();
      return { ...ENDED, toFollow: looks === 2 ? 1 : 0 };
    },
    followPayments: () => {
      follows += 1;
      return { changed: 1 };
    },
  }));
  expect(outcome).toBe("completed");
  expect(follows).toBe(1);
});

test("a run reads a limited number of decisions sent to Temporal, without an activity for each later one", async () => {
  let verified = 0;
  let answer: unknown;
  let looks = 0;
  const begun = { ended: false, phase: "settling", planned: true };
  await run(WORKFLOW.payRun, { runId: "x", decisionsRead: 150 }, (_signal, handle) => ({
    openRun: () => begun,
    reviewRun: async () => {
      looks += 1;
      if (looks > 1) return ENDED;
      for (let sent = 0; sent < 65; sent += 1) await handle.signal(SIGNAL.decide, "x");
      answer = await handle
        .executeUpdate(UPDATE.decide, { args: ["x"] })
        .catch((error: Error) => error.cause);
      return { ...ENDED, ended: false };
    },
    verifyDecision: () => {
      verified += 1;
      return NO_DECISION;
    },
  }));
  expect(verified).toBe(50);
  expect(answer).toMatchObject({
    ...{ type: "too_many_decisions" },
    message: expect.stringContaining("takes no more decisions directly"),
  });
});

test.each([null, { ...ENDED, ended: false, details: null, wakeInMs: "never" }])(
  "a run that is answered with %j ends, so that the janitor starts it again by what the store says",
  async (odd) => {
    const outcome = run(WORKFLOW.payRun, { runId: "x" }, () => ({
      openRun: () => ({ ended: false, phase: "settling", planned: true }),
      reviewRun: () => odd,
    }));
    await expect(outcome).rejects.toMatchObject({ cause: { type: "OddAnswer" } });
  },
);

test("an event during a retry's last look still causes another look", async () => {
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
    reviewFailedPayment: async () => {
      looks += 1;
      if (looks === 1) await signal();
      return ended;
    },
  }));
  expect(looks).toBe(2);
});

/** Sends a decision; resolves once the workflow has accepted it. */
function sendDecision(handle: WorkflowHandle, claim: string) {
  return handle.startUpdate(UPDATE.decide, { args: [claim], waitForStage: "ACCEPTED" });
}

/** Activities of a run that makes its last look while slow decisions are under way. */
function lastLook(handle: WorkflowHandle, answers: Promise<unknown>[], end = ENDED) {
  let looks = 0;
  const judged: unknown[] = [];
  const activities = {
    openRun: () => ({ ended: false, phase: "settling", planned: true }),
    reviewRun: async () => {
      looks += 1;
      if (looks > 1) return end;
      const update = await sendDecision(handle, "update");
      answers.push(update.result());
      await handle.signal(SIGNAL.decide, "signal");
      return end;
    },
    verifyDecision: async ({ claim }: { claim: unknown }) => {
      await sleep(600);
      judged.push(claim);
      return NO_DECISION;
    },
  };
  return { activities, judged };
}

test("a run ends only after every decision that reached it is judged and has its response", async () => {
  const answers: Promise<unknown>[] = [];
  let judged: unknown[] = [];
  const outcome = await run(WORKFLOW.payRun, { runId: "x" }, (_, handle) => {
    const last = lastLook(handle, answers);
    judged = last.judged;
    return last.activities;
  });
  expect(outcome).toBe("completed");
  expect(new Set(judged)).toEqual(new Set(["signal", "update"]));
  expect(await Promise.all(answers)).toEqual([NO_DECISION]);
});

test("a run whose work is already done still judges a decision that reached it", async () => {
  const judged: unknown[] = [];
  const outcome = await run(WORKFLOW.payRun, { runId: "x" }, (_, handle) => ({
    openRun: async () => {
      await handle.signal(SIGNAL.decide, "late");
      return { ended: true, phase: "completed", planned: true };
    },
    verifyDecision: async ({ claim }: { claim: unknown }) => {
      await sleep(300);
      judged.push(claim);
      return { ...NO_DECISION, message: "the run has ended" };
    },
  }));
  expect(outcome).toBe("completed");
  expect(judged).toEqual(["late"]);
});

test("a run that can't be planned, or is cancelled in Temporal, responds to earlier decisions first", async () => {
  for (const how of ["fails", "is cancelled"]) {
    const answers: Promise<unknown>[] = [];
    const judged: unknown[] = [];
    const ended = run(WORKFLOW.payRun, { runId: "x" }, (_, handle) => ({
      openRun: () => ({ ended: false, phase: "planning", planned: false }),
      reviewRun: () => ({ ...ENDED, phase: "planning", ended: false, toPlan: true }),
      planRun: async () => {
        const update = await sendDecision(handle, "asked");
        answers.push(update.result());
        if (how === "is cancelled") await handle.cancel();
        return { refused: "no funding source" };
      },
      verifyDecision: async ({ claim }: { claim: unknown }) => {
        await sleep(600);
        judged.push(claim);
        return NO_DECISION;
      },
    }));
    await expect(ended).rejects.toThrow(how === "fails" ? "failed" : "cancelled");
    expect(judged, how).toEqual(["asked"]);
    expect(await Promise.all(answers)).toEqual([NO_DECISION]);
  }
});
