import { MASS_QUEUE, TASK_QUEUE } from "../contracts/names.ts";

/** How much of a queue a process works on at once. */
interface QueueLimits {
  readonly taskQueue: string;
  readonly activities: number;
  /** Tasks of workflows on this queue; null if it has no workflows. */
  readonly workflowTasks: number | null;
  /** Activities a second, of all processes together; null without a limit. */
  readonly aSecond: number | null;
}

/**
 * How much of each queue a process works on at once. Tasks beyond that wait in Temporal, and never
 * ahead of tasks of another queue.
 */
export const QUEUES = {
  /** Decisions, cancels, and where each run stands: what people wait for. */
  steps: { taskQueue: TASK_QUEUE, activities: 100, workflowTasks: 40, aSecond: null },
  /** Lanes and deposits; a business has four lanes at most, however much there is to pay. */
  money: { taskQueue: MASS_QUEUE.money, activities: 40, workflowTasks: null, aSecond: null },
  /**
   * Failed payments. Few at a time: everything else waits behind what thousands of workflows ask of
   * Temporal together. At five a second two cores have time for others, and 2,000 bills that
   * bounced on one day are still paid again within ten minutes (docs/benchmarks.md).
   */
  retries: { taskQueue: MASS_QUEUE.retries, activities: 8, workflowTasks: 2, aSecond: 5 },
  /** Plans, and what follows payments page by page. */
  reading: { taskQueue: MASS_QUEUE.reading, activities: 8, workflowTasks: null, aSecond: null },
} as const satisfies Readonly<Record<string, QueueLimits>>;

export type QueueName = keyof typeof QUEUES;

export const QUEUE_NAMES = Object.keys(QUEUES) as readonly QueueName[];
