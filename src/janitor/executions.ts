import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import { WORKFLOW, WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";

/** What Temporal knows of a workflow id: its latest execution. */
export type Execution =
  | { readonly kind: "running" }
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

/** Reads the ids of the workflows, of every kind that belongs to rows, that are at work now. */
export async function runningWorkflows(client: Client): Promise<Set<string>> {
  return new Set((await runningSince(client)).keys());
}

/** Reads the same, each with the real instant at which its present execution began. */
export async function runningSince(client: Client): Promise<Map<string, number>> {
  const types = Object.values(WORKFLOW_KINDS)
    .map(({ workflow }) => `"${WORKFLOW[workflow]}"`)
    .join(", ");
  const query = `WorkflowType IN (${types}) AND ExecutionStatus = "Running"`;
  const startedAtMs = new Map<string, number>();
  await each(client, query, ({ workflowId, startTime }) => {
    startedAtMs.set(workflowId, startTime.getTime());
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
    for await (const info of client.workflow.list({ query, pageSize: 1_000 })) take(info);
  });
}

/** Reads the latest execution of one id; lists lag behind, this does not. */
export async function executionOf(client: Client, workflowId: string): Promise<Execution> {
  try {
    const { status, closeTime } = await client.withDeadline(Date.now() + ANSWER_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
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
        return { kind: "running" };
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: "missing" };
    throw error;
  }
}
