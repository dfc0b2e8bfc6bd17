import type { JudgedAnswer, Means } from "../../src/ledger/answers.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { createdPaymentsSchema } from "../../src/payments-api/schemas/payment.ts";
import type { PayOutcome } from "./job.ts";
import { type Left, outcomeOf } from "./leave.ts";

/** Goes before the gate again at once, or after a pause; the last reason is what the line rests with. */
export interface Again {
  readonly kind: "again";
  readonly pauseMs: number | null;
  readonly outcome: PayOutcome;
}

/** Our reading of the business clock may be this old: the next key's date must not repeat it. */
const CLOCK_MAY_LAG_MS = 1_100;

/** The payments that an answer names; null where it lacks their documented shape. */
export function paymentsOf({ judged, body }: Left): readonly Payment[] | null {
  const created = createdPaymentsSchema.safeParse(body);
  if (!created.success) return null;
  return created.data.payments.filter(({ id }) => judged.madeIds.includes(id));
}

/** An answer that says yes, without telling what it made: nobody knows. */
export function withoutPayments(judged: JudgedAnswer): JudgedAnswer {
  const reason = `answer ${judged.status} without payments in the documented shape`;
  const means: Means = { kind: "unknown", reason };
  return { ...judged, result: "unknown", message: reason, madeIds: [], means };
}

type Answered = Exclude<Means, { readonly kind: "applied" }>;

/**
 * What an answer other than success means for the line; the key's part is next()'s.
 *
 * @param isOpen whether another request of it may still pay: then its line only rests
 */
export function afterAnswer(means: Answered, isOpen: boolean): PayOutcome | Again {
  const after = ofMeans(means);
  if (!isOpen || after.kind === "again" || after.kind === "unknown") return after;
  if (after.kind === "business-wait") return { ...after, isOpen };
  const said = "code" in means ? means.code : means.kind;
  return {
    kind: "unknown",
    restMs: null,
    reason: `${said}, and an earlier request had no answer.`,
  };
}

function ofMeans(means: Answered): PayOutcome | Again {
  switch (means.kind) {
    case "unknown":
      return again(null, { kind: "unknown", restMs: null, reason: means.reason });
    case "not-sent":
      return again(null, { kind: "back", restMs: null, reason: `Not sent: ${means.reason}.` });
    case "conflict":
      return resting("The service says that a request under its key still runs.");
    case "unconfirmed":
      return resting("The service can't say whether it paid.");
    case "in-progress":
      return {
        kind: "back",
        restMs: null,
        reason: `The service says that a payment of it is on its way (${means.code}).`,
      };
    case "rejected":
      return rejected(means);
    case "unauthorized":
      // The client dropped its token; one more send fetches a new one.
      return again(
        0,
        businessWait("unauthorized", "The service refuses the token (401). Renew it."),
      );
    case "forbidden": {
      const text = `The token lacks the scope payments:initiate (403): ${means.message}`;
      return businessWait("forbidden", text);
    }
    case "rate-limited": {
      const { retryAfterMs } = means;
      const text = "The service asked to slow down (429).";
      return { ...businessWait("rate_limited", text), retryAfterMs };
    }
    case "business-wait":
      return { ...businessWait(means.code, means.message), scope: means.scope };
    case "line-wait":
      return means;
  }
}

function rejected(means: Extract<Means, { readonly kind: "rejected" }>): PayOutcome | Again {
  const { code, field, message } = means;
  const where = field === null ? "" : ` (${field})`;
  const outcome: PayOutcome = {
    kind: "parked",
    code,
    reason: `The service refused the payment${where}: ${message}. Correct that, then resolve --retry.`,
  };
  const datePassed =
    code === "validation_error" && (field === "scheduledAt" || message.includes("scheduledAt"));
  // The date has passed since it was chosen; other causes a person must lift.
  return datePassed ? again(CLOCK_MAY_LAG_MS, outcome) : outcome;
}

function resting(reason: string): PayOutcome {
  return { kind: "unknown", restMs: null, reason };
}

function again(pauseMs: number | null, outcome: PayOutcome): Again {
  return { kind: "again", pauseMs, outcome };
}

function businessWait(
  code: string,
  message: string,
): PayOutcome & { readonly kind: "business-wait" } {
  return {
    kind: "business-wait",
    code,
    scope: "business",
    message,
    retryAfterMs: null,
    isOpen: false,
  };
}

/** A send that was answered with payments. */
export function paid(
  send: OpenedSend,
  judged: JudgedAnswer,
  payments: readonly Payment[],
): PayOutcome & { readonly kind: "applied" } {
  const sent = outcomeOf(send, judged);
  return { kind: "applied", payments, paymentIds: judged.madeIds, found: false, sent };
}
