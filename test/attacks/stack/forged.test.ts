import { defaultPayloadConverter } from "@temporalio/common";
import { expect, test } from "vitest";
import { createActivities } from "../../../activities/index.ts";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import type { PayrunActivities } from "../../../src/contracts/activities.ts";
import { MASS_QUEUE, SIGNAL, TASK_QUEUE } from "../../../src/contracts/names.ts";
import {
  cancelScheduledPaymentsId,
  fundingIncidentId,
  kybOnboardingId,
  planDryId,
  retryFailedPaymentId,
  WORKFLOW,
} from "../../../src/contracts/workflow-kinds.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { TABLE_NAMES } from "../../../src/store/schema/tables.ts";
import type { TestPayrun } from "../../support/payrun.ts";
import { clockNoticed, paymentRequests, plannedScene, scenePlaybook } from "../../support/scene.ts";
import { approve, stacks } from "../../support/stack.ts";

const start = stacks();

/** Words of the attacker's: they must not appear in anything that Payrun keeps or says. */
const SAID = "CALL MALLORY +1 555 0100";

/** An end of a trail that no store has ever had. */
const SEEN = { seen: { hash: "f".repeat(64), atMs: 4e12, proof: "f".repeat(64) } };

/** Temporal's numbers for commands. */
const SCHEDULE_ACTIVITY = 1;
const COMPLETE_WORKFLOW = 4;

interface About {
  readonly runId: string;
  readonly payableId: string;
}

/** Forged inputs of each activity; one without a row doesn't compile. */
const ACTIVITIES: Readonly<
  Record<keyof PayrunActivities, (about: About) => { queue: string; inputs: unknown[] }>
> = {
  openRun: ({ runId }) => steps({ runId, ...SEEN }),
  planRun: ({ runId }) => reads({ runId, reason: SAID }),
  planDry: () => reads(dryPlan(SAID)),
  reviewRun: ({ runId }) => steps({ runId, ...SEEN }),
  reserveMoney: ({ runId }) => steps({ runId }),
  payBills: ({ runId }) => money({ runId, lane: 1, ...SEEN }),
  makeDeposits: ({ runId }) => money({ owner: runId, ...SEEN }),
  followPayments: ({ runId }) => reads({ runId }),
  verifyDecision: ({ runId }) => steps({ runId, claim: SAID, via: SAID }),
  reviewFailedPayment: (about) => retries(ofBill(about)),
  payAgain: (about) => retries(ofBill(about)),
  reviewCancellation: ({ runId }) => steps({ id: runId }),
  choosePayments: ({ runId }) => steps({ id: runId }),
  cancelPayments: ({ runId }) => steps({ id: runId }),
  followRefunds: ({ runId }) => steps({ id: runId }),
  reviewIncident: () => steps({ business: "default", sourceId: SAID }),
  launchRun: () => steps({ business: "default", playbook: "later", nominalMs: Date.now() }),
  reviewOnboarding: () => steps({ business: "default" }),
  sendOnboardingStep: () => steps({ business: "default", inputId: SAID }),
};

/** Workflows that an attacker starts, by type; one without a row doesn't compile. */
const WORKFLOWS: Readonly<
  Record<keyof typeof WORKFLOW, (about: About) => { workflowId: string; input: object }[]>
> = {
  payRun: ({ runId }) => [
    { workflowId: `pay-run/default/${SAID}/2026-01-01`, input: { runId: SAID, ...SEEN } },
    { workflowId: `pay-run/other/weekly/2026-01-01`, input: { runId, ...SEEN } },
  ],
  retryFailedPayment: ({ payableId }) => [
    {
      workflowId: retryFailedPaymentId("default", payableId),
      input: { business: "default", payableId, ...SEEN },
    },
  ],
  fundingIncident: () => [
    {
      workflowId: fundingIncidentId("default", "balance"),
      input: { business: "default", sourceId: "balance" },
    },
  ],
  planDry: () => [{ workflowId: dryPlan(SAID).dryPlanId, input: dryPlan(SAID) }],
  scheduledPayRun: () =>
    ["scheduled-pay-run/default/later", "scheduled-pay-run/default/later-now"].map(
      (workflowId) => ({ workflowId, input: { business: "default", playbook: "later" } }),
    ),
  kybOnboarding: () => [{ workflowId: kybOnboardingId("default"), input: { business: "default" } }],
  cancelScheduledPayments: ({ runId }) => {
    const id = cancelScheduledPaymentsId("default", SAID);
    return [
      { workflowId: id, input: { id } },
      { workflowId: `${id}/2`, input: { id: runId } },
    ];
  },
};

function dryPlan(nonce: string) {
  const asked = { business: "default", playbook: "weekly", period: "2026-01-01" };
  return { ...asked, dryPlanId: planDryId("default", "weekly", nonce), reason: SAID };
}

const ofBill = ({ payableId }: About) => ({ business: "default", payableId, ...SEEN });
const steps = (...inputs: unknown[]) => ({ queue: TASK_QUEUE, inputs });
const reads = (...inputs: unknown[]) => ({ queue: MASS_QUEUE.reading, inputs });
const money = (...inputs: unknown[]) => ({ queue: MASS_QUEUE.money, inputs });
const retries = (...inputs: unknown[]) => ({ queue: MASS_QUEUE.retries, inputs });

/** Answers a task of each of the workflows as a worker of the attacker's own does. */
async function answer(
  { temporal, namespace }: TestPayrun,
  queue: string,
  workflowIds: readonly string[],
  commands: object[],
): Promise<void> {
  const { workflowService } = temporal;
  const polled = { namespace, taskQueue: { name: queue }, identity: "mallory" };
  const open = new Set(workflowIds);
  while (open.size > 0) {
    const { taskToken, workflowExecution } = await temporal.withDeadline(Date.now() + 70_000, () =>
      workflowService.pollWorkflowTaskQueue(polled),
    );
    if (!open.delete(workflowExecution?.workflowId ?? "")) continue;
    await workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands });
  }
}

/**
 * Answers the next look at each of the runs beside Payrun's own worker; other tasks that come are
 * left to time out, as if their worker had died.
 */
async function answerLooks(
  { temporal, namespace }: TestPayrun,
  runIds: readonly string[],
  result: unknown,
): Promise<void> {
  const { workflowService } = temporal;
  const polled = { namespace, taskQueue: { name: TASK_QUEUE }, identity: "mallory" };
  const open = new Set(runIds);
  const signal = (runId: string) =>
    temporal.workflow
      .getHandle(runId)
      .signal(SIGNAL.eventsArrived)
      .catch(() => {});
  const signals = setInterval(() => void Promise.all([...open].map(signal)), 300);
  try {
    while (open.size > 0) {
      const task = await temporal.withDeadline(Date.now() + 70_000, () =>
        workflowService.pollActivityTaskQueue(polled),
      );
      const runId = task.workflowExecution?.workflowId ?? "";
      if (task.activityType?.name !== "reviewRun" || !runIds.includes(runId)) continue;
      const { taskToken } = task;
      await workflowService.respondActivityTaskCompleted({
        ...{ namespace, taskToken, identity: "mallory", result: payloads(result) },
      });
      open.delete(runId);
    }
  } finally {
    clearInterval(signals);
  }
}

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });

const completes = (result: unknown) => ({
  commandType: COMPLETE_WORKFLOW,
  completeWorkflowExecutionCommandAttributes: { result: payloads(result) },
});

/** Has a workflow of this id schedule every activity, and waits until each has ended in some way. */
async function scheduleAll(payrun: TestPayrun, workflowId: string, about: About): Promise<void> {
  const handle = await payrun.temporal.workflow.start("mallory", {
    ...{ workflowId, taskQueue: "mallory", args: [] },
  });
  const commands = Object.entries(ACTIVITIES).flatMap(([name, rowOf]) => {
    const { queue, inputs } = rowOf(about);
    return [...inputs, {}, null].map((input, no) => ({
      commandType: SCHEDULE_ACTIVITY,
      scheduleActivityTaskCommandAttributes: {
        activityId: `${name}-${no}`,
        activityType: { name },
        taskQueue: { name: queue },
        input: payloads(input),
        scheduleToCloseTimeout: { seconds: 90 },
        startToCloseTimeout: { seconds: 60 },
        retryPolicy: { maximumAttempts: 1 },
      },
    }));
  });
  await answer(payrun, "mallory", [workflowId], commands);
  const over = async (): Promise<number> => {
    const { events } = await handle.fetchHistory();
    const ends = (events ?? []).flatMap(
      (event) =>
        event.activityTaskCompletedEventAttributes ??
        event.activityTaskFailedEventAttributes ??
        event.activityTaskTimedOutEventAttributes ??
        [],
    );
    return ends.length;
  };
  await expect.poll(over, { interval: 500 }).toBe(commands.length);
  await answer(payrun, "mallory", [workflowId], [completes({ ended: true, ...SEEN })]);
}

/** Returns everything that the store keeps, as text. */
async function allKept({ store }: TestPayrun): Promise<string> {
  const rows = await Promise.all(
    TABLE_NAMES.map((name) => store.db.selectFrom(name).selectAll().execute()),
  );
  return JSON.stringify(rows);
}

/** Returns what must stay as it is: runs, bills, holds and requests. */
async function standing(payrun: TestPayrun) {
  const { db } = payrun.store;
  return {
    runs: await db.selectFrom("runs").select(["run_id", "phase"]).orderBy("run_id").execute(),
    lines: await db
      .selectFrom("run_lines")
      .select(["payable_id", "state", "reason_code"])
      .orderBy("payable_id")
      .execute(),
    holds: await db.selectFrom("holds").select(["hold_id", "released_at_ms"]).execute(),
    retries: await db.selectFrom("retries").select("payable_id").execute(),
    dryPlans: await db.selectFrom("dry_plans").select("dry_plan_id").execute(),
    requests: await paymentRequests(payrun),
  };
}

test("every activity and every kind of workflow has forged inputs here", () => {
  expect(Object.keys(ACTIVITIES).toSorted()).toEqual(
    Object.keys(createActivities({} as ActivityContext)).toSorted(),
  );
  expect(Object.keys(WORKFLOWS)).toEqual(expect.arrayContaining(Object.values(WORKFLOW)));
});

// Tasks that died with their worker are given out again only after a while, one after the other.
test("whoever may write to Temporal, starts workflows, schedules activities or answers tasks only makes Payrun look, wait or stop", async () => {
  const payrun = await start({ janitorEveryMs: 2_000 });
  const planned = await plannedScene(payrun, "planned", [10_00]);
  const parked = await plannedScene(payrun, "parked", [90_00], {
    more: ["limits: { bill: $50 }"],
  });
  const approved = await plannedScene(payrun, "approved", [20_00]);
  const hold = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", {
    ...{ run: approved.runId, reason: "not now" },
  });
  expect(hold.status).toBe(201);
  await approve(payrun, approved.runId);
  // A schedule that begins its first run in some hours.
  const at = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(11, 16);
  const schedule = `schedule: { every: day, at: "${at}", zone: UTC }`;
  await payrun.apply("later", scenePlaybook("later", { more: [schedule] }));
  const runIds = [planned.runId, approved.runId];
  await payrun.until(
    approved.runId,
    "paying, and on hold",
    ({ phase, counts }) => phase === "paying" && counts["on-hold"] === 1,
  );
  await payrun.untilPhase(parked.runId, "completed-with-exceptions");
  const before = await standing(payrun);
  const { businessId } = payrun.sandbox.business;
  const trailBefore = (await listAudit(payrun.store.db, { businessId })).length;

  // A worker of the attacker's answers the runs' tasks: they are done, it says.
  await payrun.killWorkers();
  for (const runId of runIds) {
    await payrun.temporal.workflow.getHandle(runId).signal(SIGNAL.eventsArrived);
  }
  await answer(payrun, TASK_QUEUE, runIds, [completes("completed")]);
  await payrun.startWorker();
  const runs = async (): Promise<string[]> =>
    Promise.all(
      runIds.map(
        async (id) => (await payrun.temporal.workflow.getHandle(id).describe()).status.name,
      ),
    );
  await expect.poll(runs).toEqual(["RUNNING", "RUNNING"]);
  // It answers their looks: everything is paid, everything is to be paid, nothing that makes sense.
  const look = { wakeInMs: 1, toFund: 0, toPay: 0, toFollow: 0, waitingFor: SAID, details: SAID };
  const ended = { ...look, phase: "completed", ended: true, auditHead: SEEN.seen };
  const pays = { ...look, phase: "paying", ended: false, toPay: 1e9, toFund: 1e9, toDeposit: true };
  for (const result of [{ ...pays, auditHead: SEEN.seen }, ended, null]) {
    await answerLooks(payrun, runIds, result);
    await expect.poll(runs).toEqual(["RUNNING", "RUNNING"]);
  }

  const [bill = { id: "" }] = parked.made;
  const about = { runId: approved.runId, payableId: bill.id };
  // Every activity: from a workflow of any name, and from ones that are named like Payrun's own.
  const cancellation = cancelScheduledPaymentsId("default", SAID);
  for (const workflowId of [
    "mallory",
    parked.runId,
    retryFailedPaymentId("default", bill.id),
    kybOnboardingId("default"),
    fundingIncidentId("default", SAID),
    "scheduled-pay-run/default/later-2026-01-01T00:00:00Z",
  ]) {
    await scheduleAll(payrun, workflowId, { ...about, runId: parked.runId });
  }
  await scheduleAll(payrun, cancellation, { ...about, runId: cancellation });
  for (const [type, rowOf] of Object.entries(WORKFLOWS)) {
    for (const { workflowId, input } of rowOf(about)) {
      await payrun.temporal.workflow.start(type, {
        ...{ workflowId, taskQueue: TASK_QUEUE, args: [input] },
      });
    }
  }
  // Another worker begins beside all that, and compares the store with Temporal first.
  await payrun.killWorkers();
  await payrun.startWorker();
  await clockNoticed();
  await expect.poll(runs).toEqual(["RUNNING", "RUNNING"]);

  expect(await standing(payrun)).toEqual(before);
  expect(await allKept(payrun)).not.toContain("MALLORY");
  const trail = (await listAudit(payrun.store.db, { businessId })).slice(trailBefore);
  // True facts: somebody has sent what is no decision, and runs had lost their workflows.
  const allowed = ["run.decision-refused", "run.follower-started"];
  expect([...new Set(trail.map(({ action }) => action))].toSorted()).toEqual(allowed);
  // And Payrun goes on as ever.
  await payrun.call("operator", "DELETE", `/v1/holds/${hold.body.id}`);
  await payrun.until(approved.runId, "sent", ({ counts }) => counts.scheduled === 1);
  expect(await paymentRequests(payrun)).toBe(1);
}, 600_000);
