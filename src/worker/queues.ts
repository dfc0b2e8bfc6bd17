import { MASS_QUEUE, TASK_QUEUE } from "../contracts/names.ts";

/** How much of a queue a process works on at once. */
interface QueueLimits {
  readonly taskQueue: string;
  /** Tasks of workflows on this queue; null if it has no workflows. */
  readonly workflowTasks: number | null;
  /** Activities a second, of all processes together; null without a limit. */
  readonly aSecond: number | null;
}

/**
 * The most activities of a queue that a process has in hand. Most of these would wait: each
 * business has a share of the places at which this process works (`src/domain/places.ts`).
 */
export const ACTIVITIES_IN_HAND = 1_000;

/**
 * How much of each queue a process works on at once. Tasks beyond that wait in Temporal, and never
 * ahead of tasks of another queue.
 */
export const QUEUES = {
  /** Decisions, cancels, and where each run stands: what people wait for. */
  steps: { taskQueue: TASK_QUEUE, workflowTasks: 40, aSecond: null },
  /** Lanes and deposits; a business has four lanes at most, however much there is to pay. */
  money: { taskQueue: MASS_QUEUE.money, workflowTasks: null, aSecond: null },
  /**
   * Failed payments. Few at a time: everything else waits behind what thousands of workflows ask of
   * Temporal together. At five a second two cores have time for others, and 2,000 bills that
   * bounced on one day are still paid again within ten minutes (docs/benchmarks.md).
   */
  retries: { taskQueue: MASS_QUEUE.retries, workflowTasks: 2, aSecond: 5 },
  /** Plans, and what follows payments page by page. */
  reading: { taskQueue: MASS_QUEUE.reading, workflowTasks: null, aSecond: null },
} as const satisfies Readonly<Record<string, QueueLimits>>;

export type QueueName = keyof typeof QUEUES;

export const QUEUE_NAMES = Object.keys(QUEUES) as readonly QueueName[];
