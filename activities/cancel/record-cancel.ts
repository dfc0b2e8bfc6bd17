import type { Transaction } from "kysely";
import { formatUsd } from "../../src/domain/money.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { endAttempt } from "../../src/store/attempt-writes.ts";
import {
  type CancellationItem,
  changeItem,
  dropItem,
  insertItem,
  listItems,
} from "../../src/store/cancellation-items.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { Tables } from "../../src/store/tables.ts";
import { clearWaits, setWait } from "../../src/store/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import type { CancelJob, CancelOutcome, FindOutJob, MadePayment } from "./job.ts";

/**
 * Writes what a cancel, or a look at a request under way, came to: the attempt's final answer and what it means for the payment in
 * one transaction. An item that has come to its end meanwhile stays as it is.
 *
 * @returns true where it came to its end
 */
export async function recordCancel(
  context: ActivityContext,
  job: CancelJob | FindOutJob,
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
    if (outcome.kind === "made") {
      await keepMade(trx, job, outcome.payments, clock);
      return false;
    }
    if (outcome.end !== undefined) await end(trx, outcome.end, item, clock);
    // A look may have come to its end without a word of the service.
    if ("by" in job) await clearWaits(trx, { businessId, sourceId: "", realMs: clock.realMs });
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
      subject: item.paymentId ?? item.payableId,
      details: { payableId: item.payableId, reason: outcome.reason },
    });
    if (["too-late", "several-scheduled", "unknown"].includes(state)) {
      await tellNotCancelled(trx, job, { state, reason: outcome.reason }, clock);
    }
    return outcome.kind === "ended";
  });
}

/** Puts the payments that a request has made in the place of the bill that was waited for. */
async function keepMade(
  trx: Transaction<Tables>,
  { cancellation: { businessId, workflowId }, item }: CancelJob | FindOutJob,
  payments: readonly MadePayment[],
  clock: ClockReading,
): Promise<void> {
  const items = await listItems(trx, workflowId);
  const mine = items.find(({ itemNo }) => itemNo === item.itemNo);
  if (mine === undefined || mine.paymentId !== null || !mine.open) return;
  const known = new Set(items.map(({ paymentId }) => paymentId));
  const [first, ...others] = payments.filter(({ paymentId }) => !known.has(paymentId));
  // Chosen by themselves, they have places of their own.
  if (first === undefined) await dropItem(trx, mine);
  else {
    const change = { ...first, reason: "Not cancelled yet.", notBeforeMs: 0 };
    await changeItem(trx, mine, change, clock.realMs);
  }
  let itemNo = Math.max(...items.map((each) => each.itemNo));
  for (const payment of others) {
    itemNo += 1;
    const next = { ...mine, ...payment, itemNo, reason: "Not cancelled yet.", notBeforeMs: 0 };
    await insertItem(trx, next, clock.realMs);
  }
  await appendAudit(trx, {
    businessId,
    nowMs: clock.realMs,
    actor: workflowId,
    action: "cancellation.found",
    subject: mine.payableId ?? "",
    details: { payments: payments.map(({ paymentId }) => paymentId) },
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
  { cancellation, item }: CancelJob | FindOutJob,
  what: { readonly state: string; readonly reason: string },
  clock: ClockReading,
): Promise<void> {
  await raiseNotice(trx, {
    businessId: cancellation.businessId,
    kind: "payment-not-cancelled",
    factKey: `${cancellation.workflowId}/${item.paymentId ?? item.payableId}`,
    subject: `A payment of ${formatUsd(item.amountCents)} was not cancelled: ${what.state}`,
    text: `${what.reason}\n\nPayment ${item.paymentId ?? "not known"}, bill ${item.payableId ?? "unknown"}. The bill stays on hold until somebody releases it.`,
    roles: [],
    data: { id: cancellation.workflowId, paymentId: item.paymentId, state: what.state },
    nowMs: clock.realMs,
  });
}
