import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { Wish } from "../../src/ledger/facts.ts";
import type { PayOwner } from "./job.ts";

const PAY_PATH = "/v1/payments";

/**
 * Returns `POST /v1/payments` for one line (API specification, section 4), with the terms that its
 * approval is about.
 *
 * The amount is always sent: without it the service would take "what remains", which may have
 * changed. The source's own `pay` fields go in as they came.
 *
 * @param pay the source's fields, if they are not those that were approved
 */
export function payRequest(
  plan: PlanLine,
  { owner, runId }: Pick<PayOwner, "owner" | "runId">,
  executionDate: string,
  pay: Readonly<Record<string, unknown>> = plan.funding.pay,
): Wish {
  const body = JSON.stringify({
    payableId: plan.payableId,
    amountCents: plan.amountCents,
    scheduledAt: executionDate,
    clearing: plan.clearing,
    ...pay,
    ...(plan.funding.needsAchAuthorization ? { achAuthorizationAccepted: true } : {}),
  });
  return {
    operation: "pay",
    path: PAY_PATH,
    body,
    owner,
    runId,
    approvedHash: plan.lineHash,
    contactId: plan.contactId,
    sourceId: plan.funding.sourceId,
    rail: plan.funding.rail,
    amountCents: plan.amountCents,
    executionDate,
  };
}
