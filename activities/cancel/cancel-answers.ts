import { serviceSays } from "../../src/domain/service-words.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { cancelledPaymentSchema } from "../../src/payments-api/index.ts";
import { BAD_TOKEN, businessFault, slowDown } from "../shared/business-fault.ts";
import type { Left } from "../pay/leave.ts";
import { backOffAfter } from "../shared/back-off.ts";
import { type CancelOutcome, ended, unknown } from "./job.ts";

const MESSAGE_MAX = 300;

/** Refusals that depend on what is being done to the payment at the moment. */
const OF_THE_MOMENT: readonly number[] = [409, 423, 425];

/**
 * Judges what the answer to a cancel means for its item; the ledger judges what it means for the
 * key.
 *
 * @param isOpen true if a cancel of the payment may still take effect
 * @returns `look` if only reading the payment shows what follows
 */
export function meansForItem(
  left: Left,
  send: OpenedSend,
  isOpen: boolean,
): CancelOutcome | "look" {
  const { means, status } = left.judged;
  switch (means.kind) {
    case "applied":
      return applied(left, send);
    case "unknown":
      return backOffAfter(send, `A cancel was sent and had no clear answer (${means.reason}).`);
    case "conflict":
      return backOffAfter(send, "The same cancel is still running at the service.");
    case "not-sent":
    case "unconfirmed":
      return "look";
    case "rejected": {
      const isOfTheMoment = status !== null && OF_THE_MOMENT.includes(status);
      if (isOpen || isOfTheMoment || CHANGED.includes(means.code)) return "look";
      return refusedFor(means.code, means.message);
    }
    case "in-progress":
    case "line-wait":
      return backOffAfter(send, `The service says ${means.code}.`);
    case "unauthorized":
      return BAD_TOKEN;
    case "forbidden":
      return businessFault("forbidden", "The token lacks the scope payments:initiate (403).");
    case "rate-limited":
      return slowDown(means.retryAfterMs);
    case "business-wait":
      // The fault concerns payments, or is known only for that: nothing else has to wait for its
      // end.
      return backOffAfter(
        send,
        `The service refuses it for now (${means.code}).${serviceSays(means.message)}`,
      );
  }
}

/** Codes that say that the payment has changed; reading the payment shows how. */
const CHANGED: readonly string[] = ["payment_not_cancellable", "not_found"];

export function refusedFor(code: string, message: string): CancelOutcome {
  const reason = `The service refused the cancel (${code}).${serviceSays(message)}`;
  return unknown(reason);
}

/**
 * Judges the service's word that it cancelled, by the payment's status now: where the money went.
 */
function applied({ body }: Left, send: OpenedSend): CancelOutcome {
  const told = cancelledPaymentSchema.safeParse(body).data;
  const said = (told?.message ?? "").slice(0, MESSAGE_MAX);
  switch (told?.payment.status) {
    case "cancelled":
      return ended("cancelled", said || "Cancelled. No money moved.");
    case "refunded":
      return ended("refunded", said || "The money is back.");
    case "refund_pending":
      return { kind: "returning", reason: said || "The money is on its way back." };
    default: {
      const shown = told?.payment.status ?? "not shown";
      return backOffAfter(
        send,
        `The service says that it is cancelled, and the payment is ${shown} still.`,
      );
    }
  }
}
