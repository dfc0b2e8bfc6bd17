import { CANCEL_WAITS } from "../../src/domain/service-waits.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { type Cancellation, getCancellation } from "../../src/store/cancellations.ts";
import { type CancellationItem, listItems } from "../../src/store/cancellation-items.ts";
import { probeWaits } from "../../src/store/waits.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { cancelPayment } from "./cancel-payment.ts";
import { findOut } from "./find-out.ts";
import type { CancelJob, CancelOutcome, FindOutJob, Recorded } from "./job.ts";
import { recordCancel } from "./record-cancel.ts";

/** Payments that are cancelled at the same time. */
const LANE_WIDTH = 20;

const UNFORESEEN_REST_MS = 5_000;

/**
 * Cancels what of a cancellation is due, about 20 payments at a time, and finds out what came of
 * requests that were under way; what runs soonest goes first, as far as the order of the request
 * tells.
 *
 * A fault of the whole business stops it at once; what is in flight still gets its answer.
 */
export async function cancelLane(
  context: ActivityContext,
  input: { readonly id: string; readonly by: string; readonly stop: AbortSignal },
): Promise<{ readonly ended: number }> {
  const { db } = context.store;
  const cancellation = await getCancellation(db, input.id);
  if (cancellation === undefined) throw new Error(`${input.id} is not in the store`);
  const { business, businessId } = cancellation;
  const { serviceMs } = await context.clockOf(business).now();
  const items = await listItems(db, input.id);
  const queue = items.flatMap((item) => jobsOf(cancellation, item, input.by, serviceMs));
  // Whoever tries after a business-wide fault grows its back-off; of payments' faults it tries none.
  await context.store.transactionOf(businessId, (trx) =>
    probeWaits(trx, { businessId, sourceIds: [], nowMs: serviceMs, codes: CANCEL_WAITS }),
  );
  let ended = 0;
  let stopped = false;
  const work = async (): Promise<void> => {
    while (!stopped && !input.stop.aborted) {
      const job = queue.shift();
      if (job === undefined) return;
      const recorded = await workOn(context, job).catch((error: unknown) =>
        recordError(context, job, error),
      );
      if (recorded.outcome.kind === "business-wait") stopped = true;
      if (recorded.ended) ended += 1;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: LANE_WIDTH }, work));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { ended };
}

type Job = CancelJob | FindOutJob;

function jobsOf(
  cancellation: Cancellation,
  item: CancellationItem,
  by: string,
  serviceMs: number,
): Job[] {
  const { paymentId, payableId } = item;
  const isDue = item.open && item.state === "unknown" && item.notBeforeMs <= serviceMs;
  if (!isDue) return [];
  if (paymentId !== null) return [{ cancellation, item: { ...item, paymentId }, by }];
  return payableId === null ? [] : [{ cancellation, item: { ...item, paymentId, payableId }, by }];
}

function workOn(context: ActivityContext, { cancellation, item, by }: Job): Promise<Recorded> {
  return item.paymentId === null
    ? findOut(context, { cancellation, item, by })
    : cancelPayment(context, { cancellation, item, by });
}

/** A failed read sends nothing; what was sent before stays open until the payment can be read. */
async function recordError(context: ActivityContext, job: Job, error: unknown): Promise<Recorded> {
  const clock = await context.clockOf(job.cancellation.business).now();
  const outcome = outcomeOfError(context, job, error, clock);
  return context.store.transactionOf(job.cancellation.businessId, (trx) =>
    recordCancel(trx, job, outcome, clock),
  );
}

function outcomeOfError(
  context: ActivityContext,
  job: Job,
  error: unknown,
  { serviceMs }: ClockReading,
): CancelOutcome {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof PaymentsApiError) {
    const { status, retryAfterMs } = error;
    const wait = (code: string, message: string): CancelOutcome => ({
      kind: "business-wait",
      code,
      message,
      retryAfterMs: retryAfterMs ?? null,
    });
    if (status === 429) return wait("rate_limited", "The service asked to slow down (429).");
    if (status === 401 || error.code === "token_unavailable") {
      return wait("unauthorized", "The service refuses the token (401). Renew it.");
    }
    if (status === 403) return wait("forbidden_read", `The token lacks a scope (403): ${reason}`);
  } else {
    context.log.warn("a payment could not be cancelled for an unforeseen reason", {
      paymentId: job.item.paymentId,
      payableId: job.item.payableId,
      error: reason,
    });
  }
  const text = `Could not be read or cancelled: ${reason}`;
  return { kind: "rest", notBeforeMs: serviceMs + UNFORESEEN_REST_MS, reason: text };
}
