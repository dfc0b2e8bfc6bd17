import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { refundLateFromMs } from "../../src/domain/cancellations/cut-off.ts";
import { judgeForCancel } from "../../src/domain/cancellations/judge-payment.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { type Cancellation, getCancellation } from "../../src/store/cancellations.ts";
import {
  type CancellationItem,
  changeItem,
  type ItemChange,
  listItems,
} from "../../src/store/cancellation-items.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { readOrWait } from "../read-or-wait.ts";

/**
 * Reads the payments whose money is on its way back, until it is back, and tells people once where
 * that takes longer than it should. The service has no event for it.
 */
export async function followRefunds(
  context: ActivityContext,
  id: string,
): Promise<{ readonly ended: number }> {
  const cancellation = await getCancellation(context.store.db, id);
  if (cancellation === undefined) throw new Error(`${id} is not in the store`);
  const clock = await context.clockOf(cancellation.business).now();
  const client = context.clientOf(cancellation.business);
  let ended = 0;
  for (const item of await listItems(context.store.db, id)) {
    const { paymentId } = item;
    const isDue = item.open && item.state === "refund_pending" && item.pollAtMs <= clock.businessMs;
    if (!isDue || paymentId === null) continue;
    const payment = await readOrWait(context, cancellation, () => client.payments.get(paymentId));
    if (payment === undefined) return { ended };
    if (await follow(context, cancellation, item, payment)) ended += 1;
  }
  return { ended };
}

async function follow(
  context: ActivityContext,
  cancellation: Cancellation,
  item: CancellationItem,
  payment: Payment,
): Promise<boolean> {
  const { businessId, workflowId, policy } = cancellation;
  const clock = await context.clockOf(cancellation.business).now();
  const cancelledAtMs = item.cancelledAtMs ?? clock.businessMs;
  const isLate = clock.businessMs >= refundLateFromMs(cancelledAtMs, policy.refundBusinessDays);
  const change = changeOf(payment, item, { isLate, clock, days: policy.refundBusinessDays });
  return context.store.transactionOf(businessId, async (trx) => {
    if (!(await changeItem(trx, item, change, clock.realMs))) return false;
    if (change.state !== undefined) {
      await appendAudit(trx, {
        businessId,
        nowMs: clock.realMs,
        actor: workflowId,
        action: `cancel-payment:${change.state}`,
        subject: payment.id,
        details: { status: payment.status, reason: change.reason ?? null },
      });
    }
    if (change.open !== false && isLate) {
      await raiseNotice(trx, {
        businessId,
        kind: "refund-late",
        factKey: `${workflowId}/${payment.id}`,
        subject: `A refund of ${formatUsd(item.amountCents)} takes longer than ${policy.refundBusinessDays} business days`,
        text: `Payment ${payment.id} was cancelled on ${newYorkDate(cancelledAtMs)}, and the service still calls it ${payment.status}. Ask the service where the money is.`,
        roles: [],
        data: { id: workflowId, paymentId: payment.id, status: payment.status },
        nowMs: clock.realMs,
      });
    }
    return change.open === false;
  });
}

function changeOf(
  payment: Payment,
  item: CancellationItem,
  now: { readonly isLate: boolean; readonly clock: ClockReading; readonly days: number },
): ItemChange {
  const { businessMs, scale } = now.clock;
  const verdict = judgeForCancel(payment, { severalScheduled: false, businessMs, scale });
  if (verdict.kind === "ended") {
    const isBack = verdict.state === "refunded" || verdict.state === "cancelled";
    const reason = isBack
      ? verdict.reason
      : `It was cancelled, and the service calls it ${payment.status} now. Ask the service.`;
    return { state: isBack ? verdict.state : "unknown", open: false, reason };
  }
  const pollAtMs = nextPollMs(businessMs, item.cancelledAtMs ?? businessMs, scale);
  const isBack = verdict.kind === "returning";
  const text = isBack
    ? (item.reason ?? "").replace(LATE, "")
    : `It was cancelled, and the service calls it ${payment.status} now; looking again.`;
  return {
    pollAtMs: Math.ceil(pollAtMs),
    reason: now.isLate
      ? `${text.replace(LATE, "")} It takes longer than ${now.days} business days: ask the service.`
      : text,
  };
}

const LATE = / It takes longer than \d+ business days: ask the service\.$/;
