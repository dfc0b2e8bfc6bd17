import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { SIGNAL } from "../contracts/names.ts";

/**
 * Tells a workflow to look at the store.
 *
 * @returns false where no such workflow runs
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
