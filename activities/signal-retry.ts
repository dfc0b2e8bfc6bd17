import { retryFailedPaymentId, SIGNAL, TASK_QUEUE, WORKFLOW } from "../src/contracts/names.ts";
import type { RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import type { ActivityContext } from "./context.ts";

/**
 * Starts the owner of a failed payable, or tells the running one to look.
 *
 * From an activity and not as a child: starting a child id that exists fails for ever, a
 * signalWithStart meets whoever is there.
 */
export async function signalRetry(
  context: ActivityContext,
  business: string,
  payableId: string,
): Promise<void> {
  const input: RetryFailedPaymentInput = { business, payableId };
  await context.temporal.workflow.signalWithStart(WORKFLOW.retryFailedPayment, {
    workflowId: retryFailedPaymentId(business, payableId),
    taskQueue: TASK_QUEUE,
    args: [input],
    signal: SIGNAL.eventsArrived,
    signalArgs: [],
    staticSummary: `Failed payment of ${payableId}`,
  });
}
