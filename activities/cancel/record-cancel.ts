import type { Transaction } from "kysely";
import { formatUsd } from "../../src/domain/money.ts";
import { READ_WAITS } from "../../src/domain/service-waits.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { changeItem, dropItem, insertItem, listItems } from "../../src/store/cancellation-items.ts";
import { raiseNotice } from "../../src/store/notices.ts";
import type { Tables } from "../../src/store/tables.ts";
import { clearWaits, setWait } from "../../src/store/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { CancelJob, CancelOutcome, FindOutJob, MadePayment, Recorded } from "./job.ts";

/**
 * Writes what a cancel, or a look at a request under way, means for its item, in the transaction
 * that writes what the ledger knows of it. An item that has come to its end meanwhile stays as it
 * is.
 *
 * @param proved codes of the waits that are over where the item comes to its end: a read without a
 * send proves nothing about sending
 */
export async function recordCancel(
  trx: Transaction<Tables>,
  job: CancelJob | FindOutJob,
  outcome: CancelOutcome,
  clock: ClockReading,
  proved: readonly string[] = READ_WAITS,
): Promise<Recorded> {
  return { outcome, ended: await recordOutcome(trx, job, outcome, clock, proved) };
}

/** @returns true where the item came to its end */
async function recordOutcome(
  trx: Transaction<Tables>,
  job: CancelJob | FindOutJob,
  outcome: CancelOutcome,
  clock: ClockReading,
  proved: readonly string[],
): Promise<boolean> {
  const { cancellation, item } = job;
  const { businessId, workflowId } = cancellation;
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
  // A look may have come to its end without a word of the service.
  if (item.paymentId !== null) {
    await clearWaits(trx, { businessId, sourceId: "", realMs: clock.realMs, codes: proved });
  }
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
