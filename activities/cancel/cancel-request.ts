import type { Wish } from "../../src/ledger/facts.ts";
import { cancelPath } from "../../src/ledger/operations.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { Cancellation } from "../../src/store/cancellations/cancellations.ts";

/** The request that cancels a payment. */
export function cancelRequest({ workflowId, reason }: Cancellation, payment: Payment): Wish {
  return {
    operation: "cancel",
    path: cancelPath(payment.id),
    body: JSON.stringify({ reason: reason.slice(0, REASON_MAX) }),
    owner: workflowId,
    runId: "",
    approvedHash: "",
    contactId: payment.contactId ?? "",
    sourceId: "",
    rail: payment.paymentRail ?? "",
    amountCents: payment.amountCents,
    executionDate: (payment.scheduledAt ?? "").slice(0, DATE_LENGTH),
  };
}

/** API specification, section 4. */
const REASON_MAX = 500;

const DATE_LENGTH = "YYYY-MM-DD".length;
