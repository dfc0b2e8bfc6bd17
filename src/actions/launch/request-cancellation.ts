import type { Transaction } from "kysely";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { cancelScheduledPaymentsId } from "../../contracts/names.ts";
import { type CancellationPolicy, namedPayments } from "../../domain/cancellations/policy.ts";
import { appendAudit } from "../../store/audit/audit.ts";
import {
  getCancellation,
  insertCancellation,
  nextCancellation,
} from "../../store/cancellations/cancellations.ts";
import type { Tables } from "../../store/index.ts";
import type { ActionContext } from "../context.ts";
import type { Launched } from "./launcher.ts";
import { WORKFLOW_KINDS } from "../../contracts/workflow-kinds.ts";
import { startWorkflow } from "../temporal.ts";

export interface CancellationRequest {
  readonly profile: BusinessProfile;
  /** Names what it is about: the same request joins the one that is under way. */
  readonly request: string;
  /** Empty where a person named the payments. */
  readonly playbook: string;
  readonly policy: CancellationPolicy;
  /** The run to withhold from, or null. */
  readonly runId: string | null;
  readonly reason: string;
  readonly by: string;
}

/**
 * Asks for a cancellation: a row first, then always a start, so that a request that died half-way
 * is completed by the next one. The same request joins one that is under way; once that has ended,
 * it is made anew.
 *
 * @throws GatewayError 503 where Temporal can't be reached: the row is kept, and asking again goes on
 */
export async function requestCancellation(
  context: Pick<ActionContext, "store" | "temporal" | "nowMs">,
  request: CancellationRequest,
): Promise<Launched> {
  const { profile, playbook, by } = request;
  const { workflowId, created } = await context.store.transactionOf(profile.businessId, (trx) =>
    record(trx, request, context.nowMs()),
  );
  await startWorkflow(context.temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
    workflowId,
    business: profile.name,
    playbook,
    requestedBy: by,
  });
  return { runId: workflowId, created };
}

async function record(
  trx: Transaction<Tables>,
  { profile, request, playbook, policy, runId, reason, by }: CancellationRequest,
  nowMs: number,
): Promise<{ readonly workflowId: string; readonly created: boolean }> {
  const beginning = cancelScheduledPaymentsId(profile.name, request);
  // What is withheld from a run is withheld once; a released bill is not withheld again.
  const { workflowId, isUnderWay } =
    runId === null
      ? await nextCancellation(trx, beginning)
      : {
          workflowId: beginning,
          isUnderWay: (await getCancellation(trx, beginning)) !== undefined,
        };
  if (isUnderWay) return { workflowId, created: false };
  const { businessId, name: business } = profile;
  const asked = { workflowId, businessId, business, playbook, policy, runId, reason };
  await insertCancellation(trx, { ...asked, requestedBy: by, nowMs });
  await appendAudit(trx, {
    businessId,
    nowMs,
    actor: by,
    action: "cancellation.requested",
    subject: workflowId,
    details: { playbook, runId, reason, payments: namedPayments(policy) },
  });
  return { workflowId, created: true };
}
