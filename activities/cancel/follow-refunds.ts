import type { Transaction } from "kysely";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { refundDaysOf } from "../../src/domain/cancellations/policy.ts";
import { refundLateFromMs } from "../../src/domain/cancellations/cut-off.ts";
import {
  type CancelCandidate,
  judgeForCancel,
} from "../../src/domain/cancellations/judge-payment.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { type Cancellation, getCancellation } from "../../src/store/cancellations/cancellations.ts";
import {
  type CancellationItem,
  changeItem,
  type ItemChange,
  listItems,
} from "../../src/store/cancellations/cancellation-items.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../shared/context.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { by, notifyNotCancelled } from "./notes.ts";
import { readPayment } from "./read-payment.ts";

/**
 * Reads the payments whose money is on its way back, until it is back, and notifies people once if
 * that takes longer than it should. The service has no event for it.
 */
export async function followRefunds(
  context: ActivityContext,
  id: string,
): Promise<{ readonly ended: number }> {
  const cancellation = await getCancellation(context.store.db, id);
  // If the store has lost the cancellation meanwhile, the next look says so.
  if (cancellation === undefined) return { ended: 0 };
  const clock = await context.clockOf(cancellation.business).now();
  const client = context.clientOf(cancellation.business);
  let ended = 0;
  for (const item of await listItems(context.store.db, id)) {
    const { paymentId } = item;
    const isDue = item.open && item.state === "refund_pending" && item.pollAtMs <= clock.businessMs;
    if (!isDue || paymentId === null) continue;
    const reading = async () => ({ payment: await readPayment(client, paymentId) });
    const read = await readOrWait(context, cancellation, reading, "payments");
    if (read === undefined) return { ended };
    const shown = read.payment ?? { id: paymentId, status: NOT_SHOWN, scheduledAt: null };
    if (await follow(context, cancellation, item, shown)) ended += 1;
  }
  return { ended };
}

/** What following a refund needs of its payment. */
type Refunding = CancelCandidate & { readonly id: string };

/** The status given to a payment that the service doesn't show any more, or not now. */
const NOT_SHOWN = "unknown";

async function follow(
  context: ActivityContext,
  cancellation: Cancellation,
  item: CancellationItem,
  payment: Refunding,
): Promise<boolean> {
  const { businessId, policy } = cancellation;
  const clock = await context.clockOf(cancellation.business).now();
  const cancelledAtMs = item.cancelledAtMs ?? clock.businessMs;
  const isLate = clock.businessMs >= refundLateFromMs(cancelledAtMs, refundDaysOf(policy));
  const change = changeOf(payment, item, { isLate, clock, days: refundDaysOf(policy) });
  return context.store.transactionOf(businessId, async (trx) => {
    if (!(await changeItem(trx, item, change, clock.realMs))) return false;
    if (change.state !== undefined) {
      await appendAudit(trx, {
        ...by(cancellation, clock),
        action: `cancel-payment:${change.state}`,
        subject: payment.id,
        details: { status: payment.status, reason: change.reason ?? null },
      });
    }
    if (change.open !== false && isLate) {
      await notifyOfLate(trx, { cancellation, item, payment, nowMs: clock.realMs }, cancelledAtMs);
    }
    if (change.open === false && change.state === "unknown") {
      const is = `that was cancelled is ${payment.status} now`;
      const now = { is, state: "unknown", reason: change.reason ?? "" };
      await notifyNotCancelled(trx, cancellation, item, now, clock);
    }
    return change.open === false;
  });
}

interface Late {
  readonly cancellation: Cancellation;
  readonly item: CancellationItem;
  readonly payment: Refunding;
  readonly nowMs: number;
}

function notifyOfLate(
  trx: Transaction<Tables>,
  late: Late,
  cancelledAtMs: number,
): Promise<boolean> {
  const { cancellation, item, payment, nowMs } = late;
  const days = refundDaysOf(cancellation.policy);
  return raiseNotice(trx, {
    businessId: cancellation.businessId,
    kind: "refund-late",
    factKey: `${cancellation.workflowId}/${payment.id}`,
    subject: `A refund of ${formatUsd(item.amountCents)} takes longer than ${days} business days`,
    text: `Payment ${payment.id} was cancelled on ${newYorkDate(cancelledAtMs)}, and the service still calls it ${payment.status}. Ask the service where the money is.`,
    roles: [],
    data: { id: cancellation.workflowId, paymentId: payment.id, status: payment.status },
    nowMs,
  });
}

function changeOf(
  payment: Refunding,
  item: CancellationItem,
  now: { readonly isLate: boolean; readonly clock: ClockReading; readonly days: number },
): ItemChange {
  const { clock } = now;
  const verdict = judgeForCancel(payment, { severalScheduled: false, clock });
  if (verdict.kind === "ended") {
    const isBack = verdict.state === "refunded" || verdict.state === "cancelled";
    const reason = isBack
      ? verdict.reason
      : `It was cancelled, and the service calls it ${payment.status} now. Ask the service.`;
    return { state: isBack ? verdict.state : "unknown", open: false, reason };
  }
  if (verdict.kind === "cancel") {
    const reason = `It was cancelled, and the service calls it ${payment.status} again.`;
    return { state: "unknown", reason, notBeforeMs: 0 };
  }
  const pollAtMs = nextPollMs(clock, item.cancelledAtMs ?? clock.businessMs);
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
