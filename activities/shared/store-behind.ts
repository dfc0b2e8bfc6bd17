import { timesNow } from "../../src/business/clock.ts";
import type { AuditHead, Seen } from "../../src/contracts/activities.ts";
import { businessOfWorkflow } from "../../src/contracts/workflow-kinds.ts";
import { auditHead, hasAuditHead, holdForLoss } from "../../src/store/janitor/behind.ts";
import type { ActivityContext } from "./context.ts";

/**
 * Does a step of a workflow on a store that is not older than what the workflow has seen of it.
 *
 * If the store is older, everything of the business is put on hold before the step begins, so that
 * nothing is sent that the lost part of the store knew about.
 */
export async function onStoreNotBehind<T>(
  context: ActivityContext,
  workflowId: string,
  { seen }: Seen,
  step: () => Promise<T>,
): Promise<T> {
  const business = businessOfWorkflow(workflowId);
  if (seen === undefined || business === undefined) return step();
  const { businessId } = context.profileOf(business);
  if (!(await hasAuditHead(context.store.db, businessId, seen.hash))) {
    const loss = {
      businessId,
      evidence: `${workflowId} has seen a later end of its audit trail`,
      hadItAtMs: seen.atMs,
      ...(await timesNow(context.clockOf(business))),
    };
    const isSet = await context.store.transactionOf(businessId, (trx) => holdForLoss(trx, loss));
    if (isSet) {
      context.log.warn("the store is older than its runs: everything is on hold", { business });
    }
  }
  return step();
}

/** Does the same, and gives the workflow the end of the trail to carry from here on. */
export async function withAuditHead<T extends object>(
  context: ActivityContext,
  workflowId: string,
  seen: Seen,
  step: () => Promise<T>,
): Promise<T & { readonly auditHead?: AuditHead }> {
  return onStoreNotBehind(context, workflowId, seen, async () => {
    const business = businessOfWorkflow(workflowId);
    if (business === undefined) return step();
    const { businessId } = context.profileOf(business);
    // Read before the step: once a write of the step is on disk, so is everything before it.
    const head = await auditHead(context.store.db, businessId);
    const result = await step();
    return head === undefined ? result : { ...result, auditHead: head };
  });
}
