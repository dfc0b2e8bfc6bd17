import type { PlanLine } from "../../src/contracts/pay-run.ts";

/**
 * The bytes of `POST /v1/payments` for one line (API specification, section 4).
 *
 * The amount is always sent: left out it would be "what remains", which may have changed. The
 * source's own `pay` fields go in as they came.
 */
export function payBody(plan: PlanLine, executionDate: string): string {
  return JSON.stringify({
    payableId: plan.payableId,
    amountCents: plan.amountCents,
    scheduledAt: executionDate,
    clearing: plan.clearing,
    ...plan.funding.pay,
    ...(plan.funding.needsAchAuthorization ? { achAuthorizationAccepted: true } : {}),
  });
}

export const PAY_PATH = "/v1/payments";

export function retryPath(payableId: string): string {
  return `/v1/payables/${encodeURIComponent(payableId)}/retry-payment`;
}
