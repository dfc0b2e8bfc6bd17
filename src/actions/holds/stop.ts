import type { BusinessProfile } from "../../config/business-profile.ts";
import { cancelOfHeld } from "../../domain/cancellations/policy.ts";
import type { StopTarget } from "../../domain/holds.ts";
import type { Hold } from "../../store/holds/holds.ts";
import type { ActionContext } from "../context.ts";
import { GatewayError } from "../errors.ts";
import {
  type CancellationRequest,
  recordCancellation,
  startCancellation,
} from "../launch/request-cancellation.ts";
import type { Named } from "../names/found.ts";
import { createNamedHold } from "./set-hold.ts";

/**
 * Sets a hold and, if requested, cancels what is already with the service. Both are written in one
 * transaction: a process that dies cannot leave half a stop behind.
 *
 * If Temporal can't be reached, the janitor starts the cancels as soon as it can.
 */
export async function stop(
  context: Pick<ActionContext, "store" | "temporal" | "nowMs">,
  profile: BusinessProfile,
  asked: {
    readonly target: StopTarget;
    /** What the stop applies to; undefined for everything. */
    readonly thing: Named | undefined;
    readonly reason: string;
    readonly author: string;
    readonly cancelScheduled: boolean;
  },
): Promise<{ readonly hold: Hold; readonly cancellationId: string | null }> {
  const { businessId } = profile;
  const { target, thing, reason, author, cancelScheduled } = asked;
  const wanted = { target, thing, reason, author, untilMs: null };
  const requestOf = ({ holdId }: Hold): CancellationRequest => ({
    profile,
    request: `stop-${holdId}`,
    playbook: "",
    policy: cancelOfHeld(target, holdId),
    runId: null,
    reason,
    by: author,
  });
  const stopped = await context.store.transactionOf(businessId, async (trx) => {
    const nowMs = context.nowMs();
    const hold = await createNamedHold(trx, businessId, { ...wanted, nowMs });
    if (!cancelScheduled) return { hold, cancellationId: null };
    const { workflowId } = await recordCancellation(trx, requestOf(hold), nowMs);
    return { hold, cancellationId: workflowId };
  });
  const { hold, cancellationId } = stopped;
  if (cancellationId === null) return stopped;
  try {
    await startCancellation(context, requestOf(hold), cancellationId);
  } catch (error) {
    const isKept = error instanceof GatewayError && error.code === "temporal_unreachable";
    if (!isKept) throw error;
  }
  return stopped;
}
