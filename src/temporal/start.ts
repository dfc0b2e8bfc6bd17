import type { Client } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { inMarkdown } from "../domain/others-text.ts";
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
  const shown = inMarkdownEach(start);
  await client.workflow.signalWithStart(WORKFLOW[kind.workflow], {
    workflowId: kind.id(start),
    taskQueue: kind.taskQueue,
    args: [kind.input(start)],
    signal: SIGNAL.eventsArrived,
    typedSearchAttributes: new TypedSearchAttributes(searchAttributes(kind.shows(start))),
    staticSummary: kind.summary(shown).slice(0, SUMMARY_MAX),
    ...definedOnly({ staticDetails: kind.details?.(shown) }),
  });
}

/** Returns the facts of a start for Temporal's UI, where their texts format nothing. */
function inMarkdownEach<Start>(start: Start): Start {
  const shown = Object.entries(start as object).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "string" ? inMarkdown(value) : value,
  ]);
  return Object.fromEntries(shown) as Start;
}
