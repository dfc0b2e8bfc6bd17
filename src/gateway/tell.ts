import type { GatewayContext } from "./context.ts";
import { signalLook } from "./temporal.ts";

/**
 * Tells workflows to look at the store, without making anybody wait for it: what matters is
 * stored already, and each workflow's own timer looks too.
 */
export function tellToLook(
  context: Pick<GatewayContext, "temporal" | "log">,
  workflowIds: readonly string[],
): void {
  for (const workflowId of new Set(workflowIds)) {
    signalLook(context.temporal, workflowId).catch((error: unknown) => {
      context.log.warn("a workflow could not be told to look; its timer will", {
        workflowId,
        reason: error instanceof Error ? error.message : String(error),
      });
    });
  }
}
