import type { Client } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import type { Assessment, AuditHead } from "../contracts/activities.ts";
import { isRecord } from "../contracts/is-record.ts";
import { QUERY } from "../contracts/names.ts";
import { businessOfWorkflow, WORKFLOW } from "../contracts/workflow-kinds.ts";
import { undecoded } from "./undecoded.ts";

const ANSWER_MS = 3_000;
const RUNS_ASKED = 50;

/**
 * Reads what runs at work have last seen of their business's audit trail, by run. Temporal keeps it, so a person who changes the store alone can't change it as well.
 *
 * @param business the profile's name
 * @throws if Temporal can't be reached
 */
export async function seenAuditHeads(
  client: Client,
  business: string,
): Promise<ReadonlyMap<string, AuditHead>> {
  const query = `ExecutionStatus = "Running" AND WorkflowType = "${WORKFLOW.payRun}"`;
  const heads = new Map<string, AuditHead>();
  await client.withDeadline(Date.now() + 10 * ANSWER_MS, async () => {
    let asked = 0;
    for await (const { workflowId } of undecoded(client.workflow).list({ query })) {
      if (businessOfWorkflow(workflowId) !== business) continue;
      if ((asked += 1) > RUNS_ASKED) return;
      const seen = await seenAuditHead(client, workflowId);
      if (seen !== undefined) heads.set(workflowId, seen);
    }
  });
  return heads;
}

/** Events at the end of a history among which there is a look, if the run ever made one. */
const LAST_EVENTS = 200;

/**
 * Reads what the latest execution of a run has last seen of its business's audit trail from its
 * history, which needs no worker, newest first. Anyone may have written it: only the store can tell
 * what it has made itself.
 */
export async function headsInHistory(client: Client, runId: string): Promise<unknown[]> {
  const { history } = await client.withDeadline(Date.now() + ANSWER_MS, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId: runId },
      maximumPageSize: LAST_EVENTS,
    }),
  );
  const heads: unknown[] = [];
  for (const event of history?.events ?? []) {
    const result = event.activityTaskCompletedEventAttributes?.result;
    const input = event.workflowExecutionStartedEventAttributes?.input;
    for (const payload of [...(result?.payloads ?? []), ...(input?.payloads ?? [])]) {
      const value = await decoded(client, payload);
      if (isRecord(value)) heads.push(value["auditHead"] ?? value["seen"]);
    }
  }
  return heads.filter((head) => head !== undefined);
}

/** Decodes what Temporal keeps; undefined for what is no text of ours. */
async function decoded(client: Client, payload: Payload): Promise<unknown> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  try {
    let payloads = [payload];
    for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
    return payloadConverter.fromPayload(payloads[0] ?? payload);
  } catch {
    return undefined;
  }
}

/**
 * Reads what a run has last seen of its business's audit trail; undefined if it has seen nothing
 * yet, or its worker doesn't respond.
 */
export async function seenAuditHead(client: Client, runId: string): Promise<AuditHead | undefined> {
  const handle = client.workflow.getHandle(runId);
  try {
    const last = await client.withDeadline(Date.now() + ANSWER_MS, () =>
      handle.query<Assessment | null>(QUERY.progress),
    );
    return last?.auditHead;
  } catch {
    return undefined;
  }
}
