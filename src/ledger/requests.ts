import type { PlanLine } from "../contracts/pay-run.ts";
import type { TopUp } from "../store/deposits/deposits.ts";
import type { Cancellation } from "../store/cancellations/cancellations.ts";
import type { CancellationItem } from "../store/cancellations/cancellation-items.ts";
import type { Terms, Wish } from "./facts.ts";
import { cancelPath } from "./operations.ts";

/** API specification, section 4. */
const REASON_MAX = 500;

/**
 * Returns `POST /v1/payments` for one line (API specification, section 4), of what its approval
 * covers and nothing else.
 *
 * The amount is always sent: without it the service would take "what remains", which may have
 * changed.
 */
export function payRequest(
  plan: PlanLine,
  { owner, runId }: Pick<Terms, "owner" | "runId">,
  executionDate: string,
): Wish {
  const { payableId, contactId, amountCents, clearing, lineHash, funding } = plan;
  const { paymentRail, fundingSource, bankAccountId } = funding.pay;
  const body = JSON.stringify({
    payableId,
    amountCents,
    scheduledAt: executionDate,
    clearing,
    paymentRail,
    fundingSource,
    bankAccountId,
    ...(funding.needsAchAuthorization ? { achAuthorizationAccepted: true } : {}),
  });
  return {
    operation: "pay",
    path: "/v1/payments",
    body,
    owner,
    runId,
    approvedHash: lineHash,
    contactId,
    sourceId: funding.sourceId,
    rail: funding.rail,
    amountCents,
    executionDate,
  };
}

/** Returns the request that cancels the payment of an item. */
export function cancelRequest(
  { workflowId, reason }: Pick<Cancellation, "workflowId" | "reason">,
  { paymentId, contactId, amountCents }: CancellationItem & { readonly paymentId: string },
): Wish {
  const body = JSON.stringify({ reason: reason.slice(0, REASON_MAX) });
  return {
    operation: "cancel",
    path: cancelPath(paymentId),
    body,
    owner: workflowId,
    runId: "",
    approvedHash: "",
    contactId: contactId ?? "",
    sourceId: "",
    rail: "",
    amountCents,
    executionDate: "",
  };
}

/** Returns the request that makes a deposit. */
export function depositRequest({ account, amountCents, hash, makeBy, owner }: TopUp): Wish {
  const { bankAccountId } = account;
  const body = JSON.stringify({ amountCents, bankAccountId });
  return {
    operation: "deposit",
    path: "/v1/balance/deposits",
    body,
    owner,
    runId: "",
    approvedHash: hash,
    contactId: "",
    sourceId: bankAccountId,
    rail: "",
    amountCents,
    executionDate: makeBy,
  };
}
