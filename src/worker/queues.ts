import { MASS_QUEUE, TASK_QUEUE } from "../contracts/names.ts";

/**
 * How many activities of each queue a process works on at once. What waits beyond that waits in
 * Temporal, and never before something of another queue.
 */
export const QUEUES = {
  /** Workflows, decisions, cancels, and where each run stands: what people wait for. */
  steps: { taskQueue: TASK_QUEUE, atOnce: 100 },
  /** Lanes and deposits; a business has four lanes at most, whatever there is to pay. */
  money: { taskQueue: MASS_QUEUE.money, atOnce: 40 },
  /** Failed payments; of a business 20 at most are paid again at once. */
  retries: { taskQueue: MASS_QUEUE.retries, atOnce: 20 },
  /** Plans, and what follows payments page by page. */
  reading: { taskQueue: MASS_QUEUE.reading, atOnce: 8 },
} as const;

export type QueueName = keyof typeof QUEUES;

export const QUEUE_NAMES = Object.keys(QUEUES) as readonly QueueName[];
