import { timesNow } from "../../src/business/clock.ts";
import type { AuditHead, Seen } from "../../src/contracts/activities.ts";
import { businessOfWorkflow } from "../../src/contracts/workflow-kinds.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { auditHead, lostHead } from "../../src/store/janitor/heads.ts";
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
  const lost = await lostHead(context.store.db, businessId, seen);
  if (lost !== undefined) {
    const loss = {
      businessId,
      evidence: `${workflowId} has seen a later end of its audit trail`,
      hadItAtMs: lost.atMs,
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
    // Whoever ends it does nothing afterwards that would tell of this step: its end is in the head.
    if ("ended" in result && result.ended === true) {
      const last = await auditHead(context.store.db, businessId);
      return last === undefined ? result : { ...result, auditHead: last };
    }
    return head === undefined ? result : { ...result, auditHead: head };
  });
}
