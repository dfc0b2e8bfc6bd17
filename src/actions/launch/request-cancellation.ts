import type { Transaction } from "kysely";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { cancelScheduledPaymentsId, WORKFLOW_KINDS } from "../../contracts/workflow-kinds.ts";
import type { CancellationPolicy } from "../../domain/cancellations/policy.ts";
import {
  getCancellation,
  insertCancellation,
  nextCancellation,
} from "../../store/cancellations/cancellations.ts";
import type { Tables } from "../../store/index.ts";
import type { ActionContext } from "../context.ts";
import type { Launched } from "./launcher.ts";
import { startWorkflow } from "../temporal.ts";

export interface CancellationRequest {
  readonly profile: BusinessProfile;
  /** Identifies the request: the same request joins the one under way. */
  readonly request: string;
  /** Empty if a person named the payments. */
  readonly playbook: string;
  readonly policy: CancellationPolicy;
  /** The run whose bills are held back; null for a cancel. */
  readonly runId: string | null;
  readonly reason: string;
  readonly by: string;
}

export interface RequestedCancellation extends Launched {
  /** Why it was requested first. */
  readonly reason: string;
}

/**
 * Requests a cancellation: writes a row first, then always starts the workflow, so that the next
 * request completes one that died half-way. The same request joins the one under way; once that has
 * ended, it begins a new one.
 *
 * @throws GatewayError 503 if Temporal can't be reached: the row is kept, and requesting again
 * continues from it
 */
export async function requestCancellation(
  context: Pick<ActionContext, "store" | "temporal" | "nowMs">,
  request: CancellationRequest,
): Promise<RequestedCancellation> {
  const recorded = await context.store.transactionOf(
    request.profile.businessId,
    (trx) => recordCancellation(trx, request, context.nowMs()),
    { part: request.request },
  );
  await startCancellation(context, request, recorded.workflowId);
  const { workflowId: runId, created, reason } = recorded;
  return { runId, created, reason };
}

/** @throws GatewayError 503 if Temporal can't be reached: the janitor starts it later */
export async function startCancellation(
  { temporal }: Pick<ActionContext, "temporal">,
  { profile, playbook, by }: CancellationRequest,
  workflowId: string,
): Promise<void> {
  await startWorkflow(temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
    workflowId,
    business: profile.name,
    playbook,
    requestedBy: by,
  });
}

/** Writes the row of a request, unless the same one is under way. */
export async function recordCancellation(
  trx: Transaction<Tables>,
  { profile, request, playbook, policy, runId, reason, by }: CancellationRequest,
  nowMs: number,
): Promise<{ readonly workflowId: string; readonly created: boolean; readonly reason: string }> {
  const beginning = cancelScheduledPaymentsId(profile.name, request);
  // The bills of a run are held back only once; a released bill is not held back again.
  const { workflowId, underWay } =
    runId === null
      ? await nextCancellation(trx, beginning)
      : { workflowId: beginning, underWay: await getCancellation(trx, beginning) };
  if (underWay !== undefined) return { workflowId, created: false, reason: underWay.reason };
  const { businessId, name: business } = profile;
  const asked = { workflowId, businessId, business, playbook, policy, runId, reason };
  await insertCancellation(trx, { ...asked, requestedBy: by, nowMs });
  return { workflowId, created: true, reason };
}
