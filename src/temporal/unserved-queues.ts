import type { WorkflowService } from "@temporalio/client";
import { MASS_QUEUE, TASK_QUEUE } from "../contracts/names.ts";

/** Temporal's numbers for the two kinds of tasks. */
const WORKFLOW_TASKS = 1;
const ACTIVITY_TASKS = 2;

/** A poll lasts a minute: a worker that has not polled for longer than this is not there. */
const POLLED_WITHIN_MS = 150_000;

/** One of our task queues, as a worker is told to serve it, and what depends on it. */
export interface ServedQueue {
  /** Its name for `payrun worker --serve`. */
  readonly serve: string;
  readonly taskQueue: string;
  /** What stands still without a worker, as a sentence begins. */
  readonly stands: string;
}

const QUEUES: readonly (ServedQueue & { readonly tasks: readonly number[] })[] = [
  {
    serve: "steps",
    taskQueue: TASK_QUEUE,
    stands: "Runs, decisions, cancellations and onboardings stand still",
    tasks: [WORKFLOW_TASKS, ACTIVITY_TASKS],
  },
  {
    serve: "money",
    taskQueue: MASS_QUEUE.money,
    stands: "Nothing is paid or deposited",
    tasks: [ACTIVITY_TASKS],
  },
  {
    serve: "retries",
    taskQueue: MASS_QUEUE.retries,
    stands: "Failed payments are not looked after",
    tasks: [WORKFLOW_TASKS, ACTIVITY_TASKS],
  },
  {
    serve: "reading",
    taskQueue: MASS_QUEUE.reading,
    stands: "Nothing is planned, and payments are not followed",
    tasks: [ACTIVITY_TASKS],
  },
];

/**
 * Returns the task queues that no worker has polled for some two minutes.
 *
 * @throws the service's error if Temporal can't be asked
 */
export async function unservedQueues(
  service: Pick<WorkflowService, "describeTaskQueue">,
  namespace: string,
  nowMs = Date.now(),
): Promise<readonly ServedQueue[]> {
  const found = await Promise.all(
    QUEUES.map(async ({ tasks, ...queue }) => {
      const described = await Promise.all(
        tasks.map((taskQueueType) =>
          service.describeTaskQueue({
            namespace,
            taskQueue: { name: queue.taskQueue },
            taskQueueType,
          }),
        ),
      );
      const isServed = described.every(({ pollers }) =>
        (pollers ?? []).some(({ lastAccessTime }) => {
          const polledMs = Number(lastAccessTime?.seconds ?? 0) * 1_000;
          return nowMs - polledMs < POLLED_WITHIN_MS;
        }),
      );
      return isServed ? [] : [queue];
    }),
  );
  return found.flat();
}
