import type { Transaction } from "kysely";
import { isNotCancelled, saidNow } from "../../src/domain/cancellations/left-to-people.ts";
import { SERVICE_WAITS } from "../../src/domain/service-waits.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import {
  changeItem,
  dropItem,
  insertItem,
  listItems,
} from "../../src/store/cancellations/cancellation-items.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { signalOnCommit } from "../../src/store/signals/pending-signals.ts";
import { clearWaits } from "../../src/store/runs/waits.ts";
import { flagLooks, subscribersOf } from "../../src/store/payables/subscriptions.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { waitForEnd } from "../shared/business-fault.ts";
import type { CancelJob, CancelOutcome, MadePayment } from "./job.ts";
import { by, notifyNotCancelled } from "./notes.ts";

/**
 * Writes what a cancel, or a lookup of a request under way, means for its item, in the transaction
 * that writes what the ledger knows of it. An item that has ended meanwhile stays as it is.
 *
 * @param proved codes of the waits that are over if the item ends: a read without a send proves
 * nothing about sending
 * @returns the outcome
 */
export async function recordCancel(
  trx: Transaction<Tables>,
  job: CancelJob,
  outcome: CancelOutcome,
  clock: ClockReading,
  proved: readonly string[] = SERVICE_WAITS,
): Promise<CancelOutcome> {
  if (outcome.kind === "business-wait") {
    await waitForEnd(trx, { businessId: job.cancellation.businessId }, outcome, clock);
  } else if (outcome.kind === "back-off") {
    const { reason, waitMs } = outcome;
    const change = { notBeforeMs: clock.serviceMs + waitMs, reason };
    await changeItem(trx, job.item, change, clock.realMs);
  } else if (outcome.kind === "made") {
    await keepMade(trx, job, outcome.payments, clock);
  } else {
    await recordEnd(trx, job, outcome, clock, proved);
  }
  return outcome;
}

type Ended = Extract<CancelOutcome, { readonly kind: "ended" | "returning" }>;

async function recordEnd(
  trx: Transaction<Tables>,
  job: CancelJob,
  outcome: Ended,
  clock: ClockReading,
  proved: readonly string[],
): Promise<void> {
  const { cancellation, item } = job;
  // The item of a bill may have ended without a word from the service.
  if (item.paymentId !== null) {
    const { businessId } = cancellation;
    await clearWaits(trx, { businessId, sourceId: "", realMs: clock.realMs, codes: proved });
  }
  const state = outcome.kind === "returning" ? "refund_pending" : outcome.state;
  const change = {
    state,
    open: outcome.kind === "returning",
    reason: outcome.reason,
    cancelledAtMs: Math.floor(clock.businessMs),
    goesOutAtMs: outcome.kind === "ended" ? (outcome.goesOutAtMs ?? null) : null,
    pollAtMs: Math.floor(clock.businessMs),
  };
  const isMine = await changeItem(trx, item, change, clock.realMs);
  if (!isMine) return;
  if (item.payableId !== null) {
    await notifyOwner(trx, cancellation.businessId, item.payableId);
  }
  await appendAudit(trx, {
    ...by(cancellation, clock),
    action: `cancel-payment:${state}`,
    subject: item.paymentId ?? item.payableId ?? "",
    details: { payableId: item.payableId, reason: outcome.reason },
  });
  if (isNotCancelled(state)) {
    const { reason } = saidNow({ ...item, ...change }, clock.businessMs);
    const now = { is: "was not cancelled", state, reason: reason ?? outcome.reason };
    await notifyNotCancelled(trx, cancellation, item, now, clock);
  }
}

/** Makes the run or retry that follows the bill look at it again: no event reports a cancel. */
async function notifyOwner(
  trx: Transaction<Tables>,
  businessId: string,
  payableId: string,
): Promise<void> {
  await flagLooks(trx, { businessId, payableIds: [payableId] });
  for (const { owner } of await subscribersOf(trx, businessId, [payableId])) {
    signalOnCommit(trx, businessId, { kind: "workflow", workflowId: owner });
  }
}

/** Replaces the item of a bill that was waited for by the payments that its request has made. */
async function keepMade(
  trx: Transaction<Tables>,
  { cancellation, item }: CancelJob,
  payments: readonly MadePayment[],
  clock: ClockReading,
): Promise<void> {
  const items = await listItems(trx, cancellation.workflowId);
  const mine = items.find(({ itemNo }) => itemNo === item.itemNo);
  if (mine === undefined || mine.paymentId !== null || !mine.open) return;
  const known = new Set(items.map(({ paymentId }) => paymentId));
  const [first, ...others] = payments.filter(({ paymentId }) => !known.has(paymentId));
  // All of them were chosen by themselves and have their own items.
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
    ...by(cancellation, clock),
    action: "cancellation.found",
    subject: mine.payableId ?? "",
    details: { payments: payments.map(({ paymentId }) => paymentId) },
  });
}
