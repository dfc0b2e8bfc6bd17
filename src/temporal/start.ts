import type { Client } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { definedOnly } from "../contracts/defined-only.ts";
import { SUMMARY_MAX } from "../contracts/look.ts";
import { SIGNAL } from "../contracts/names.ts";
import { WORKFLOW, type WorkflowKind } from "../contracts/workflow-kinds.ts";
import { searchAttributes } from "../contracts/search-attributes.ts";

/**
 * Starts the workflow of a row, or signals the one that runs to look: the store may have lost the
 * row and got it back.
 */
export async function startOrSignal<Start>(
  client: Client,
  kind: WorkflowKind<Start>,
  start: Start,
): Promise<void> {
  const details = kind.details?.(start);
  await client.workflow.signalWithStart(WORKFLOW[kind.workflow], {
    workflowId: kind.id(start),
    taskQueue: kind.taskQueue,
    args: [kind.input(start)],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(searchAttributes(kind.shows(start))),
    staticSummary: kind.summary(start).slice(0, SUMMARY_MAX),
    ...definedOnly({ staticDetails: details }),
  });
}
