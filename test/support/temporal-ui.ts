import { expect } from "vitest";
import type { TestPayrun } from "./payrun.ts";

type Event = NonNullable<
  Awaited<
    ReturnType<ReturnType<TestPayrun["temporal"]["workflow"]["getHandle"]>["fetchHistory"]>
  >["events"]
>[number];

/** A task to which a workflow can be reset. */
type Task = Event["eventId"];

/** Returns the workflow tasks that a workflow has completed, in order; it can be reset to each. */
async function tasksOf({ temporal }: TestPayrun, workflowId: string): Promise<Task[]> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? [])
    .filter((event) => event.workflowTaskCompletedEventAttributes)
    .map(({ eventId }) => eventId);
}

/** Resets a workflow as an operator does in Temporal's UI: all that it did since is done again. */
async function resetTo(
  payrun: TestPayrun,
  workflowId: string,
  task: Task | undefined,
): Promise<void> {
  const { workflowService } = payrun.temporal;
  await workflowService.resetWorkflowExecution({
    ...{ namespace: payrun.namespace, reason: "a test of resets" },
    workflowExecution: await executionOf(payrun, workflowId),
    requestId: crypto.randomUUID(),
    workflowTaskFinishEventId: task ?? null,
  });
}

/** Resets a workflow to its first task, to one in the middle and to its last. */
export async function resetEverywhere(payrun: TestPayrun, workflowId: string): Promise<void> {
  for (const share of [0, 0.5, 1]) {
    // After a reset the workflow has to go on for a while before there are tasks again.
    const count = async () => (await tasksOf(payrun, workflowId)).length;
    await expect.poll(count).toBeGreaterThan(1);
    const tasks = await tasksOf(payrun, workflowId);
    await resetTo(payrun, workflowId, tasks[Math.floor((tasks.length - 1) * share)]);
  }
}

/** Pauses an activity as the UI's button does: its next try waits until it is unpaused. */
export async function pauseActivity(
  payrun: TestPayrun,
  workflowId: string,
  type: string,
): Promise<void> {
  const { workflowService } = payrun.temporal;
  const execution = await executionOf(payrun, workflowId);
  await workflowService.pauseActivity({ namespace: payrun.namespace, execution, type });
}

export async function unpauseActivity(
  payrun: TestPayrun,
  workflowId: string,
  type: string,
): Promise<void> {
  const { workflowService } = payrun.temporal;
  const execution = await executionOf(payrun, workflowId);
  await workflowService.unpauseActivity({ namespace: payrun.namespace, execution, type });
}

/** True if an activity of the workflow is paused. */
export async function isPaused({ temporal }: TestPayrun, workflowId: string): Promise<boolean> {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? []).some(({ state }) => state === PAUSED);
}

/** `PENDING_ACTIVITY_STATE_PAUSED` of Temporal's API. */
const PAUSED = 4;

async function executionOf({ temporal }: TestPayrun, workflowId: string) {
  const { runId } = await temporal.workflow.getHandle(workflowId).describe();
  return { workflowId, runId };
}
