import { byWorkflow } from "../../src/contracts/authors.ts";
import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { formatUsd } from "../../src/domain/money.ts";
import type { CancellationItem } from "../../src/store/cancellations/cancellation-items.ts";
import type { Cancellation } from "../../src/store/cancellations/cancellations.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { Tables } from "../../src/store/schema/tables.ts";

/** Returns who acts, and when, for an entry of the trail. */
export function by({ businessId, workflowId }: Cancellation, { realMs }: ClockReading) {
  return { businessId, actor: byWorkflow(workflowId), nowMs: realMs };
}

/** Notifies people once that a payment is not cancelled, or not any more. */
export async function notifyNotCancelled(
  trx: Transaction<Tables>,
  { businessId, workflowId: id }: Cancellation,
  { paymentId, payableId, amountCents }: CancellationItem,
  now: { readonly is: string; readonly state: string; readonly reason: string },
  { realMs: nowMs }: ClockReading,
): Promise<void> {
  const { is, state, reason } = now;
  const payment = payableId === null ? "A payment" : `${payableId}: a payment`;
  await raiseNotice(trx, {
    businessId,
    kind: "payment-not-cancelled",
    roles: [],
    nowMs,
    factKey: `${id}/${paymentId ?? payableId}`,
    subject: `${payment} of ${formatUsd(amountCents)} ${is}`,
    text: `${reason}\n\nPayment ${paymentId ?? "not known"}, bill ${payableId ?? "unknown"}. The bill stays on hold until a person releases it.`,
    data: { id, paymentId, state },
  });
}
