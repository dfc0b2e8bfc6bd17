import type { Client } from "@temporalio/client";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { z } from "zod";

export interface HistoryFigures {
  readonly events: number;
  /** Total size of all events as JSON. */
  readonly bytes: number;
  /** Size of the largest event. */
  readonly largestBytes: number;
  /**
   * Actions as Temporal Cloud bills them; heartbeats are not in a history and are billed in
   * addition.
   */
  readonly actions: number;
  readonly byType: Readonly<Record<string, number>>;
}

/** Events that are one billable action each. */
const BILLABLE = [
  "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
  "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
  "EVENT_TYPE_TIMER_STARTED",
  "EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED",
  "EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED",
  "EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
];

const eventShape = z.object({
  eventType: z.string(),
  activityTaskStartedEventAttributes: z.object({ attempt: z.number() }).optional(),
});

/** Counts the history of a workflow, including the executions that it continued as new. */
export async function historyFigures(client: Client, workflowId: string): Promise<HistoryFigures> {
  const byType: Record<string, number> = {};
  let events = 0;
  let bytes = 0;
  let largestBytes = 0;
  let actions = 0;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const event of history.events ?? []) {
      const text = historyToJSON({ events: [event] });
      const [shown] = z.object({ events: z.array(eventShape) }).parse(JSON.parse(text)).events;
      if (shown === undefined) continue;
      events += 1;
      bytes += text.length;
      largestBytes = Math.max(largestBytes, text.length);
      byType[shown.eventType] = (byType[shown.eventType] ?? 0) + 1;
      if (BILLABLE.includes(shown.eventType)) actions += 1;
      // Each further try of an activity is also billed.
      actions += (shown.activityTaskStartedEventAttributes?.attempt ?? 1) - 1;
    }
  }
  return { events, bytes, largestBytes, actions, byType };
}
