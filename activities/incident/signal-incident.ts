import type { FundingIncidentInput } from "../../src/contracts/activities.ts";
import { fundingIncidentId, SIGNAL, TASK_QUEUE, WORKFLOW } from "../../src/contracts/names.ts";
import type { ActivityContext } from "../context.ts";

/** Starts the incident of a funding account, or tells the running one to look. */
export async function signalIncident(
  context: ActivityContext,
  business: string,
  sourceId: string,
): Promise<void> {
  const input: FundingIncidentInput = { business, sourceId };
  await context.temporal.workflow.signalWithStart(WORKFLOW.fundingIncident, {
    workflowId: fundingIncidentId(business, sourceId),
    taskQueue: TASK_QUEUE,
    args: [input],
    signal: SIGNAL.eventsArrived,
    signalArgs: [],
    staticSummary: `Payments from ${sourceId} bounced, ${business}`.slice(0, 190),
  });
}
