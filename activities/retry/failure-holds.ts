import { byWorkflow } from "../../src/contracts/authors.ts";
import { holdOnce, releaseFailureHoldsOf } from "../../src/store/holds/holds.ts";
import type { ActivityContext } from "../shared/context.ts";
import type { RetryCase } from "./retry-case.ts";

/** What a hold needs of a failed bill. */
interface Failed extends Pick<RetryCase, "businessId" | "workflowId" | "payableId" | "clock"> {
  readonly line: { readonly contactId: string };
}

/** Puts everything of the vendor on hold, or the bill alone, once a case. */
export async function holdForFailure(
  context: ActivityContext,
  { businessId, workflowId, payableId, clock, line: { contactId } }: Failed,
  hold: {
    readonly scope: "contact" | "payable";
    readonly failure: string;
    /** Roles that decide about the failure. */
    readonly roles: readonly string[];
  },
): Promise<void> {
  const { scope, failure } = hold;
  const held = {
    contact: { value: contactId, reason: `A payment to this vendor came back: ${failure}` },
    payable: { value: payableId, reason: `Its payment came back: ${failure}` },
  }[scope];
  const author = byWorkflow(workflowId);
  const roles = [...hold.roles, "admin"];
  await context.store.transactionOf(businessId, (trx) =>
    holdOnce(trx, { businessId, scope, ...held, author, roles, nowMs: clock.realMs }, clock),
  );
}

/**
 * Lifts the case's own holds on its vendor and its bill: a person has decided about it, or it is
 * about the funding account.
 */
export async function liftFailureHolds({
  context,
  businessId,
  workflowId,
  clock: { businessMs, realMs: nowMs },
  row,
}: RetryCase): Promise<void> {
  const by = row.requestedBy ?? byWorkflow(workflowId);
  await context.store.transactionOf(businessId, (trx) =>
    releaseFailureHoldsOf(trx, { businessId, workflowId }, { businessMs, nowMs, by }),
  );
}
