import type { Client } from "@temporalio/client";
import { expect } from "vitest";
import { FOLLOWED, followLost } from "../../src/janitor/lost-workflows.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";

interface Shown {
  readonly type?: string;
  readonly taskQueue?: string;
  readonly tries?: number;
  /** How the first try of its task ended. */
  readonly ended?: "failed" | "timed-out";
  readonly runId?: string;
  readonly waitsMs?: number;
  readonly putOffMs?: number;
}

/** Runs one pass of the janitor over runs, with a server that shows each as running like this. */
async function pass(world: MoneyWorld, shown: Shown, running: readonly string[] = []) {
  const { type = "payRun", taskQueue = "payrun", tries = 1, runId = "execution-1" } = shown;
  const { waitsMs = 0, putOffMs = 0, ended = "failed" } = shown;
  const scheduledTime = { seconds: Math.floor((Date.now() - waitsMs) / 1_000) };
  const described = {
    ...{ runId, type, taskQueue, status: { name: "RUNNING" } },
    executionTime: new Date(Date.now() + putOffMs),
    raw: { pendingWorkflowTask: { attempt: tries, scheduledTime } },
  };
  const task = ended === "failed" ? "workflowTaskFailed" : "workflowTaskTimedOut";
  const events = [
    ...[{ workflowExecutionSignaledEventAttributes: {} }, { [`${task}EventAttributes`]: {} }],
    ...[{ workflowTaskStartedEventAttributes: {} }, { workflowTaskFailedEventAttributes: {} }],
  ];
  const temporal = {
    options: { namespace: "default" },
    workflowService: {
      getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events } }),
    },
    withDeadline: (_: unknown, work: () => Promise<unknown>) => work(),
    workflow: { getHandle: () => ({ describe: () => Promise.resolve(described) }) },
  } as unknown as Client;
  const { profile } = world.world;
  const context = { ...world.context(), temporal, profiles: { all: () => [profile] } };
  await followLost(context, profile, new Set(running), FOLLOWED.payRun);
}

const toldOf = ({ store, businessId }: MoneyWorld) =>
  listNotices(store.db, { businessId, kind: "workflow-stopped", limit: 9 });

test("operators hear once that a run's tasks fail again and again, and what to do", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}]);
  await pass(world, { tries: 2 }, [runId]);
  expect(await toldOf(world)).toEqual([]);
  await pass(world, { tries: 5 }, [runId]);
  await pass(world, { tries: 9 }, [runId]);
  const [notice, ...others] = await toldOf(world);
  expect(others).toEqual([]);
  expect(notice?.subject).toBe(`${runId} can't go on: its tasks fail again and again`);
  expect(notice?.text).toContain(`temporal workflow terminate --workflow-id '${runId}'`);
  await pass(world, { tries: 5, runId: "execution-2" }, [runId]);
  expect(await toldOf(world)).toHaveLength(2);
});

test("tasks that a busy worker doesn't finish in time are said to be late, and nobody is accused of it", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}]);
  await pass(world, { tries: 5, ended: "timed-out" }, [runId]);
  await pass(world, { tries: 9, ended: "timed-out" }, [runId]);
  const [notice, ...others] = await toldOf(world);
  expect(others).toEqual([]);
  expect(notice?.subject).toBe(`${runId} doesn't go on: no worker finishes its tasks in time`);
  const waitingFor = (await getRun(world.store.db, runId))?.waitingFor ?? "";
  for (const text of [notice?.text ?? "", waitingFor]) {
    expect(text).toContain("goes on by itself");
    expect(text).toContain("restart one that stands still");
    expect(text).not.toMatch(/fail|nobody of yours|who has done/);
  }
});

test.for<[string, Shown]>([
  ["a workflow of another type", { type: "mallory" }],
  ["a workflow on a queue that no worker of Payrun's serves", { taskQueue: "mallory" }],
  ["a workflow that somebody has put off", { putOffMs: 86_400_000 }],
])("operators hear once that %s has the id of a run", async ([_what, shown], { world }) => {
  const { runId } = await world.plannedRun([{}]);
  await pass(world, shown);
  await pass(world, shown);
  const notices = await toldOf(world);
  expect(notices.map(({ subject }) => subject)).toEqual([
    `${runId} doesn't run: another workflow has its id`,
  ]);
});

test("operators hear once of a run whose tasks no worker takes", async ({ world }) => {
  const { runId } = await world.plannedRun([{}]);
  await pass(world, { waitsMs: 60_000 }, [runId]);
  expect(await toldOf(world)).toEqual([]);
  await pass(world, { waitsMs: 600_000 }, [runId]);
  await pass(world, { waitsMs: 660_000 }, [runId]);
  const notices = await toldOf(world);
  expect(notices.map(({ subject }) => subject)).toEqual([
    `${runId} doesn't go on: no worker takes its tasks`,
  ]);
});

test("a run whose workflow doesn't go on says so as what it waits for, until it looks again", async ({
  world,
}) => {
  const { runId } = await world.plannedRun([{}]);
  await pass(world, { taskQueue: "mallory" });
  const waitsFor = async () => (await getRun(world.store.db, runId))?.waitingFor;
  expect(await waitsFor()).toContain("its workflow in Temporal, which doesn't run: another");
  await world.assess(runId);
  expect(await waitsFor()).not.toContain("Temporal");
});
