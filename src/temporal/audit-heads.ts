import type { Client } from "@temporalio/client";
import type { Assessment, AuditHead } from "../contracts/activities.ts";
import { QUERY } from "../contracts/names.ts";
import { businessOfWorkflow, WORKFLOW } from "../contracts/workflow-kinds.ts";

const ANSWER_MS = 3_000;
const RUNS_ASKED = 50;

/**
 * Reads what runs at work have last seen of their business's audit trail: hash to the run that saw
 * it. Temporal keeps it, so a person who changes the store alone can't change it as well.
 *
 * @param business the profile's name
 * @throws if Temporal can't be reached
 */
export async function seenAuditHeads(
  client: Client,
  business: string,
): Promise<ReadonlyMap<string, string>> {
  const query = `ExecutionStatus = "Running" AND WorkflowType = "${WORKFLOW.payRun}"`;
  const heads = new Map<string, string>();
  await client.withDeadline(Date.now() + 10 * ANSWER_MS, async () => {
    let asked = 0;
    for await (const { workflowId } of client.workflow.list({ query })) {
      if (businessOfWorkflow(workflowId) !== business) continue;
      if ((asked += 1) > RUNS_ASKED) return;
      const seen = await seenAuditHead(client, workflowId);
      if (seen !== undefined) heads.set(seen.hash, workflowId);
    }
  });
  return heads;
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
