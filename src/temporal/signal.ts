import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { SIGNAL } from "../contracts/names.ts";

/**
 * Signals a workflow to look at the store.
 *
 * @returns false if no such workflow runs
 */
export async function signalToLook(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal(SIGNAL.eventsArrived);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
