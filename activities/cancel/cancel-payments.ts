import { CANCEL_WAITS, FORBIDDEN } from "../../src/domain/service-waits.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { getCancellation } from "../../src/store/cancellations/cancellations.ts";
import { listItems } from "../../src/store/cancellations/cancellation-items.ts";
import { testWaits } from "../../src/store/runs/waits.ts";
import type { ActivityContext } from "../shared/context.ts";
import { faultOfRead } from "../shared/business-fault.ts";
import { backOff } from "../shared/back-off.ts";
import { perform } from "../shared/perform.ts";
import { CANCEL_PAYMENT } from "./cancel-payment.ts";
import { findOut } from "./find-out.ts";
import type { CancelJob, CancelOutcome } from "./job.ts";
import { recordCancel } from "./record-cancel.ts";

/** Payments that are cancelled at the same time. */
const LANE_WIDTH = 20;

const UNFORESEEN_WAIT_MS = 5_000;

/**
 * Cancels what is due of a cancellation, about 20 payments at a time, and finds out what came of
 * requests that were under way. Payments that run soonest go first, as far as the order of the
 * request shows which those are.
 *
 * A fault of the whole business stops the lane at once; requests in flight still get their answers.
 */
export async function cancelPayments(
  context: ActivityContext,
  input: { readonly id: string; readonly by: string; readonly stop: AbortSignal },
): Promise<{ readonly ended: number }> {
  const { db } = context.store;
  const cancellation = await getCancellation(db, input.id);
  // If the store has lost the cancellation meanwhile, the next look says so.
  if (cancellation === undefined) return { ended: 0 };
  const { business, businessId } = cancellation;
  const { serviceMs } = await context.clockOf(business).now();
  const items = await listItems(db, input.id);
  const queue = items
    .filter(({ open, state }) => open && state === "unknown")
    .filter(({ notBeforeMs }) => notBeforeMs <= serviceMs);
  // A try once the wait for a business-wide fault is over grows the fault's back-off. Faults that
  // stop only payments, not cancels, are left as they are.
  await context.store.transactionOf(businessId, (trx) =>
    testWaits(trx, { businessId, sourceIds: [], nowMs: serviceMs, codes: CANCEL_WAITS }),
  );
  let ended = 0;
  let stopped = false;
  const work = async (): Promise<void> => {
    while (!stopped && !input.stop.aborted) {
      const item = queue.shift();
      if (item === undefined) return;
      const job = { cancellation, item, by: input.by };
      const outcome = await workOn(context, job).catch((error: unknown) =>
        recordError(context, job, error),
      );
      if (outcome.kind === "business-wait") stopped = true;
      if (outcome.kind === "ended") ended += 1;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: LANE_WIDTH }, work));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { ended };
}

async function workOn(context: ActivityContext, job: CancelJob): Promise<CancelOutcome> {
  const { item } = job;
  const { paymentId, payableId } = item;
  if (paymentId !== null) {
    const payment = { ...job, item: { ...item, paymentId } };
    const outcome = await perform(context, CANCEL_PAYMENT, payment);
    if (outcome === undefined) throw new Error(`nothing came of cancelling ${paymentId}`);
    return outcome;
  }
  if (payableId === null) throw new Error("an item names neither a payment nor a bill");
  return findOut(context, { ...job, item: { ...item, paymentId, payableId } });
}

/**
 * Records a failed read. It sent nothing; what was sent before stays open until the payment can be
 * read.
 */
async function recordError(
  context: ActivityContext,
  job: CancelJob,
  error: unknown,
): Promise<CancelOutcome> {
  const clock = await context.clockOf(job.cancellation.business).now();
  const outcome = outcomeOfError(context, job, error);
  return context.store.transactionOf(job.cancellation.businessId, (trx) =>
    recordCancel(trx, job, outcome, clock),
  );
}

function outcomeOfError(context: ActivityContext, job: CancelJob, error: unknown): CancelOutcome {
  const reason = error instanceof Error ? error.message : String(error);
  const fault = faultOfRead(error, FORBIDDEN);
  if (fault !== undefined) return fault;
  if (!(error instanceof PaymentsApiError)) {
    const { paymentId, payableId } = job.item;
    const { business } = job.cancellation;
    const fields = { business, paymentId, payableId, reason };
    context.log.warn("a payment could not be cancelled for an unforeseen reason", fields);
  }
  return backOff(UNFORESEEN_WAIT_MS, `Could not be read or cancelled: ${reason}`);
}
