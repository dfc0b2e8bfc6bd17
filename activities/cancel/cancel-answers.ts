import type { ClockReading } from "../../src/business/clock.ts";
import { doublingMs } from "../../src/domain/back-off.ts";
import type { Means } from "../../src/ledger/answers.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { cancelledPaymentSchema } from "../../src/payments-api/index.ts";
import type { Left } from "../pay/leave.ts";
import type { CancelJob, CancelOutcome } from "./job.ts";

/** Rests after a send without an answer, on the service's clock: they double. */
const FIRST_REST_MS = 1_000;
const REST_MAX_MS = 30_000;

const MESSAGE_MAX = 300;

/** Refusals by what is being done to the payment at the moment. */
const OF_THE_MOMENT: readonly number[] = [409, 423, 425];

/** A yes that names another payment tells nothing of this one. */
export function judgeCancelled({ item }: CancelJob, left: Left): Left {
  const { judged } = left;
  if (judged.means.kind !== "applied" || judged.madeIds.includes(item.paymentId)) return left;
  const reason = `answer ${judged.status} with another payment`;
  const means: Means = { kind: "unknown", reason };
  const unknown = { ...judged, result: "unknown", message: reason, madeIds: [], means } as const;
  return { ...left, judged: unknown };
}

/**
 * What the answer to a cancel means for its item; what it means for the key is the ledger's.
 *
 * @param now.isOpen a cancel of the payment may still take effect
 * @returns `look` where only reading the payment tells what follows
 */
export function meansForItem(
  left: Left,
  now: { readonly send: OpenedSend; readonly isOpen: boolean; readonly clock: ClockReading },
): CancelOutcome | "look" {
  const { means, status } = left.judged;
  switch (means.kind) {
    case "applied":
      return applied(left, now);
    case "unknown":
      return rest(now, `A cancel was sent and had no clear answer (${means.reason}).`);
    case "conflict":
      return rest(now, "The same cancel is still running at the service.");
    case "not-sent":
    case "unconfirmed":
      return "look";
    case "rejected": {
      const isOfTheMoment = status !== null && OF_THE_MOMENT.includes(status);
      if (now.isOpen || isOfTheMoment || CHANGED.includes(means.code)) return "look";
      return refusedFor(means.code, means.message);
    }
    case "in-progress":
    case "line-wait":
      return rest(now, `The service says ${means.code}.`);
    case "unauthorized":
      return wait("unauthorized", "The service refuses the token (401). Renew it.");
    case "forbidden":
      return wait("forbidden", "The token lacks the scope payments:initiate (403).");
    case "rate-limited": {
      const { retryAfterMs } = means;
      return { ...wait("rate_limited", "The service asked to slow down (429)."), retryAfterMs };
    }
    case "business-wait":
      // It is about payments, or that is what it is known for: nobody else waits for it.
      return rest(now, `The service refuses it for now (${means.code}): ${means.message}`);
  }
}

/** Codes that say that the payment has changed: reading it tells what to. */
const CHANGED: readonly string[] = ["payment_not_cancellable", "not_found"];

export function refusedFor(code: string, message: string): CancelOutcome {
  const reason = `The service refused the cancel (${code}): ${message}`;
  return { kind: "ended", state: "unknown", reason };
}

/** The service says that it cancelled, with the payment as it is now and where the money went. */
function applied(
  { body }: Left,
  now: { readonly send: OpenedSend; readonly clock: ClockReading },
): CancelOutcome {
  const told = cancelledPaymentSchema.safeParse(body).data;
  const said = (told?.message ?? "").slice(0, MESSAGE_MAX);
  switch (told?.payment.status) {
    case "cancelled":
      return { kind: "ended", state: "cancelled", reason: said || "Cancelled. No money moved." };
    case "refunded":
      return { kind: "ended", state: "refunded", reason: said || "The money is back." };
    case "refund_pending":
      return { kind: "returning", reason: said || "The money is on its way back." };
    default: {
      const shown = told?.payment.status ?? "not shown";
      return rest(now, `The service says that it is cancelled, and the payment is ${shown} still.`);
    }
  }
}

function rest(
  { send, clock }: { readonly send: OpenedSend; readonly clock: ClockReading },
  reason: string,
): CancelOutcome {
  const restMs = doublingMs(FIRST_REST_MS, REST_MAX_MS, send.sendNo - 1);
  return { kind: "rest", notBeforeMs: clock.serviceMs + restMs, reason };
}

function wait(code: string, message: string): CancelOutcome & { readonly kind: "business-wait" } {
  return { kind: "business-wait", code, message, retryAfterMs: null };
}
