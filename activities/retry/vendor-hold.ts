import { byWorkflow } from "../../src/contracts/authors.ts";
import { holdOnce, releaseVendorHoldsOf } from "../../src/store/holds/holds.ts";
import type { ActivityContext } from "../shared/context.ts";
import type { RetryCase } from "./retry-case.ts";

/** What a hold on its vendor needs of a failed bill. */
interface OfVendor extends Pick<RetryCase, "businessId" | "workflowId" | "payableId" | "clock"> {
  readonly line: { readonly contactId: string };
}

/**
 * Puts everything of the vendor on hold, once a case.
 *
 * @param roles that decide about the failure
 */
export async function holdVendor(
  context: ActivityContext,
  retry: OfVendor,
  failure: string,
  roles: readonly string[],
): Promise<void> {
  const { businessId, workflowId, clock } = retry;
  const author = byWorkflow(workflowId);
  const { contactId } = retry.line;
  await context.store.transactionOf(businessId, async (trx) => {
    const reason = `A payment to this vendor came back: ${failure}`;
    const hold = { businessId, scope: "contact", value: contactId, reason } as const;
    const lifting = [...roles, "admin"];
    await holdOnce(trx, { ...hold, author, roles: lifting, nowMs: clock.realMs }, clock);
  });
}

/**
 * Lifts the case's own hold on its vendor: a person has decided about it, or the vendor is not at
 * fault.
 */
export async function liftVendorHold({
  context,
  businessId,
  workflowId,
  clock: { businessMs, realMs: nowMs },
  row,
}: RetryCase): Promise<void> {
  const by = row.requestedBy ?? byWorkflow(workflowId);
  await context.store.transactionOf(businessId, (trx) =>
    releaseVendorHoldsOf(trx, { businessId, workflowId }, { businessMs, nowMs, by }),
  );
}
