import type { Transaction } from "kysely";
import { formatUsd } from "../../src/domain/money.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { endAttempt } from "../../src/store/attempt-writes.ts";
import { type CancellationItem, changeItem } from "../../src/store/cancellation-items.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { Tables } from "../../src/store/tables.ts";
import { clearWaits, setWait } from "../../src/store/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import type { CancelJob, CancelOutcome } from "./job.ts";

/**
 * Writes what a cancel came to: the attempt's final answer and what it means for the payment in
 * one transaction. An item that has come to its end meanwhile stays as it is.
 *
 * @returns true where it came to its end
 */
export async function recordCancel(
  context: ActivityContext,
  job: CancelJob,
  outcome: CancelOutcome,
): Promise<boolean> {
  const { cancellation, item } = job;
  const { businessId, business, workflowId } = cancellation;
  const clock = await context.clockOf(business).now();
  return context.store.transactionOf(businessId, async (trx) => {
    if (outcome.kind === "rest") {
      const { notBeforeMs, reason } = outcome;
      await changeItem(trx, item, { notBeforeMs, reason }, clock.realMs);
      return false;
    }
    if (outcome.kind === "business-wait") {
      await setWait(trx, {
        businessId,
        sourceId: "",
        code: outcome.code,
        message: outcome.message,
        nowMs: clock.serviceMs,
        realMs: clock.realMs,
        ...(outcome.retryAfterMs === null
          ? {}
          : { retryAtMs: clock.serviceMs + outcome.retryAfterMs }),
      });
      return false;
    }
    if (outcome.end !== undefined) await end(trx, outcome.end, item, clock);
    await clearWaits(trx, { businessId, sourceId: "", realMs: clock.realMs });
    const state = outcome.kind === "returning" ? "refund_pending" : outcome.state;
    const isMine = await changeItem(
      trx,
      item,
      {
        state,
        open: outcome.kind === "returning",
        reason: outcome.reason,
        cancelledAtMs: Math.floor(clock.businessMs),
        pollAtMs: Math.floor(clock.businessMs),
      },
      clock.realMs,
    );
    if (!isMine) return false;
    await appendAudit(trx, {
      businessId,
      nowMs: clock.realMs,
      actor: workflowId,
      action: `cancel-payment:${state}`,
      subject: item.paymentId,
      details: { payableId: item.payableId, reason: outcome.reason },
    });
    if (["too-late", "several-scheduled", "unknown"].includes(state)) {
      await tellNotCancelled(trx, job, { state, reason: outcome.reason }, clock);
    }
    return outcome.kind === "ended";
  });
}

async function end(
  trx: Transaction<Tables>,
  { attempt, state, answer }: NonNullable<(CancelOutcome & { kind: "ended" })["end"]>,
  item: CancellationItem,
  clock: ClockReading,
): Promise<void> {
  const paymentIds = state === "applied" && item.paymentId !== null ? [item.paymentId] : [];
  const as = state === "applied" && answer !== "2xx" ? "adopted" : state;
  const { sends } = attempt;
  await endAttempt(trx, attempt, { as, answer, sends, paymentIds }, clock.realMs);
}

async function tellNotCancelled(
  trx: Transaction<Tables>,
  { cancellation, item }: CancelJob,
  what: { readonly state: string; readonly reason: string },
  clock: ClockReading,
): Promise<void> {
  await raiseNotice(trx, {
    businessId: cancellation.businessId,
    kind: "payment-not-cancelled",
    factKey: `${cancellation.workflowId}/${item.paymentId}`,
    subject: `A payment of ${formatUsd(item.amountCents)} was not cancelled: ${what.state}`,
    text: `${what.reason}\n\nPayment ${item.paymentId}, bill ${item.payableId ?? "unknown"}. The bill stays on hold until somebody releases it.`,
    roles: [],
    data: { id: cancellation.workflowId, paymentId: item.paymentId, state: what.state },
    nowMs: clock.realMs,
  });
}
