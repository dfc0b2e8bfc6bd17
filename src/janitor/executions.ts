import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { WORKFLOW, WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";
import { undecoded } from "../temporal/undecoded.ts";

/** What Temporal knows of a workflow id: its latest execution. */
export type Execution =
  | {
      readonly kind: "running";
      /** Identifies the execution. */
      readonly runId: string;
      readonly type: string;
      readonly taskQueue: string;
      /** How often its present task has been tried. */
      readonly tries: number;
      /** For how long its present task has waited for a worker to take it. */
      readonly waitsMs: number;
      /** For how long it is not to begin at all. */
      readonly putOffMs: number;
    }
  /** Never started here, past retention, or lost with the server's data. */
  | { readonly kind: "missing" }
  | {
      readonly kind: "terminated" | "cancelled" | "completed" | "failed";
      readonly closedAtMs: number;
    };

/** Time that may pass between a row in the store and the start of its workflow. */
const STARTING_MS = 15_000;

/**
 * True if another process may be about to start what looks lost; after a person's act there is no
 * doubt.
 */
export function mayBeStarting(execution: Execution, changedAtMs: number): boolean {
  const isEnded = execution.kind === "terminated" || execution.kind === "cancelled";
  return !isEnded && Date.now() - changedAtMs < STARTING_MS;
}

/** A server that doesn't respond must not hold up the start of a worker, nor a pass, forever. */
const ANSWER_MS = 20_000;

/**
 * Reads the ids of the workflows, of every kind that belongs to rows, that are at work now, each on
 * its kind's queue: another one's worker does other work.
 */
export async function runningWorkflows(client: Client): Promise<Set<string>> {
  return new Set((await runningSince(client)).keys());
}

/** Reads the same, each with the real instant at which its present execution began. */
export async function runningSince(client: Client): Promise<Map<string, number>> {
  const queues = new Map<string, string>(
    Object.values(WORKFLOW_KINDS).map(({ workflow, taskQueue }) => [WORKFLOW[workflow], taskQueue]),
  );
  const types = [...queues.keys()].map((type) => `"${type}"`).join(", ");
  const query = `WorkflowType IN (${types}) AND ExecutionStatus = "Running"`;
  const startedAtMs = new Map<string, number>();
  await each(client, query, ({ workflowId, type, taskQueue, startTime }) => {
    if (queues.get(type) === taskQueue) startedAtMs.set(workflowId, startTime.getTime());
  });
  return startedAtMs;
}

/**
 * Reads every pay run that the server still remembers, with the real instant of its first start.
 */
export async function rememberedRuns(client: Client): Promise<Map<string, number>> {
  const startedAtMs = new Map<string, number>();
  await each(client, `WorkflowType = "${WORKFLOW.payRun}"`, ({ workflowId, startTime }) => {
    const known = startedAtMs.get(workflowId) ?? Infinity;
    startedAtMs.set(workflowId, Math.min(known, startTime.getTime()));
  });
  return startedAtMs;
}

function each(
  client: Client,
  query: string,
  take: (info: WorkflowExecutionInfo) => void,
): Promise<void> {
  return client.withDeadline(Date.now() + ANSWER_MS, async () => {
    const listed = undecoded(client.workflow).list({ query, pageSize: 1_000 });
    for await (const info of listed) take(info);
  });
}

/** Reads the latest execution of one id; lists lag behind, this does not. */
export async function executionOf(client: Client, workflowId: string): Promise<Execution> {
  try {
    const described = await client.withDeadline(Date.now() + ANSWER_MS, () =>
      undecoded(client.workflow).getHandle(workflowId).describe(),
    );
    const { status, closeTime, runId, type, taskQueue, executionTime, raw } = described;
    const closedAtMs = closeTime?.getTime() ?? 0;
    switch (status.name) {
      case "TERMINATED":
        return { kind: "terminated", closedAtMs };
      case "CANCELLED":
        return { kind: "cancelled", closedAtMs };
      case "COMPLETED":
        return { kind: "completed", closedAtMs };
      case "FAILED":
      case "TIMED_OUT":
        return { kind: "failed", closedAtMs };
      default:
        return {
          kind: "running",
          runId,
          type,
          taskQueue,
          tries: raw.pendingWorkflowTask?.attempt ?? 0,
          waitsMs: waitsMs(raw.pendingWorkflowTask),
          putOffMs: Math.max(0, (executionTime?.getTime() ?? 0) - Date.now()),
        };
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: "missing" };
    throw error;
  }
}

/** Events at the end of a history among which is its last task, after signals that came since. */
const LAST_EVENTS = 200;

/**
 * True if the present task of an execution was first not finished in time, and not failed by a
 * worker: its worker was busy, or stood still. Of a row of tries, a history has only the first.
 */
export async function isTaskLate(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<boolean> {
  const { history } = await client.withDeadline(Date.now() + ANSWER_MS, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: LAST_EVENTS,
    }),
  );
  for (const event of history?.events ?? []) {
    if (event.workflowTaskTimedOutEventAttributes != null) return true;
    if (event.workflowTaskFailedEventAttributes != null) return false;
  }
  return false;
}

type PendingTask = WorkflowExecutionDescription["raw"]["pendingWorkflowTask"];

function waitsMs(task: PendingTask): number {
  const isTaken = task?.startedTime != null;
  const sinceMs = Number(task?.scheduledTime?.seconds ?? 0) * 1_000;
  return isTaken || sinceMs === 0 ? 0 : Math.max(0, Date.now() - sinceMs);
}
