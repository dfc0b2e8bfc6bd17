import type { Transaction } from "kysely";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { cancelOfHeld } from "../../domain/cancellations/policy.ts";
import type { StopTarget } from "../../domain/holds.ts";
import type { Hold } from "../../store/holds/holds.ts";
import { getIncident } from "../../store/incidents/incidents.ts";
import type { Tables } from "../../store/index.ts";
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
  const requestOf = ({ holdId }: Hold, forIncident: boolean): CancellationRequest => ({
    profile,
    request: `stop-${holdId}`,
    playbook: "",
    policy: cancelOfHeld(target, holdId, forIncident),
    runId: null,
    reason,
    by: author,
  });
  const stopped = await context.store.transactionOf(businessId, async (trx) => {
    const nowMs = context.nowMs();
    const hold = await createNamedHold(trx, businessId, { ...wanted, nowMs });
    if (!cancelScheduled) return { hold, request: undefined, cancellationId: null };
    const request = requestOf(hold, await hasIncident(trx, businessId, target));
    const { workflowId } = await recordCancellation(trx, request, nowMs);
    return { hold, request, cancellationId: workflowId };
  });
  const { hold, request, cancellationId } = stopped;
  if (request === undefined) return { hold, cancellationId };
  try {
    await startCancellation(context, request, cancellationId);
  } catch (error) {
    const isKept = error instanceof GatewayError && error.code === "temporal_unreachable";
    if (!isKept) throw error;
  }
  return { hold, cancellationId };
}

async function hasIncident(
  trx: Transaction<Tables>,
  businessId: string,
  { scope, value }: StopTarget,
): Promise<boolean> {
  const incident = scope === "source" ? await getIncident(trx, businessId, value) : undefined;
  return incident !== undefined && incident.phase !== "ended";
}
