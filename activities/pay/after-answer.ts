import { serviceSays } from "../../src/domain/service-words.ts";
import type { JudgedAnswer, Means } from "../../src/ledger/answers.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import {
  BAD_TOKEN,
  type BusinessFault,
  businessFault,
  slowDown,
  refusedForNow,
} from "../shared/business-fault.ts";
import type { PayOutcome } from "./job.ts";

/**
 * Asks the gate again, at once or after a pause. The line backs off with the outcome of the last
 * try.
 */
export interface Again {
  readonly kind: "again";
  readonly pauseMs: number | null;
  readonly outcome: PayOutcome;
}

/**
 * The age that our reading of the business clock may have: the next key must not repeat its date.
 */
const CLOCK_MAY_LAG_MS = 1_100;

type Answered = Exclude<Means, { readonly kind: "applied" }>;

/**
 * Judges what an answer other than success means for the line; `next()` judges what it means for
 * the key.
 *
 * @param isOpen true if another request of it may still pay; the line then only backs off
 */
export function afterAnswer(means: Answered, isOpen: boolean): PayOutcome | Again {
  const after = ofMeans(means);
  if (!isOpen || after.kind === "again" || after.kind === "unknown") return after;
  if (after.kind === "business-wait") return { ...after, isOpen };
  const said = "code" in means ? means.code : means.kind;
  return {
    kind: "unknown",
    waitMs: null,
    reason: `${said}, and an earlier request had no answer.`,
  };
}

function ofMeans(means: Answered): PayOutcome | Again {
  switch (means.kind) {
    case "unknown":
      return again(null, { kind: "unknown", waitMs: null, reason: means.reason });
    case "not-sent":
      return again(null, { kind: "back", waitMs: null, reason: `Not sent: ${means.reason}.` });
    case "conflict":
      return backOff("The service says that a request under its key still runs.");
    case "unconfirmed":
      return backOff("The service can't say whether it paid.");
    case "in-progress":
      return {
        kind: "back",
        waitMs: null,
        reason: `The service says that a payment of it is on its way (${means.code}).`,
      };
    case "rejected":
      return rejected(means);
    case "unauthorized":
      // The client dropped its token; one more send fetches a new one.
      return again(0, ofBusiness(BAD_TOKEN));
    case "forbidden": {
      const text = `The token lacks the scope payments:initiate (403).${serviceSays(means.message)}`;
      return ofBusiness(businessFault("forbidden", text));
    }
    case "rate-limited":
      return ofBusiness(slowDown(means.retryAfterMs));
    case "business-wait":
      return ofBusiness(refusedForNow(means.code, means.message), means.scope);
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
    reason: `The service refused the payment${where}: ${message}. Correct that, then try it again.`,
  };
  const datePassed =
    code === "validation_error" && (field === "scheduledAt" || message.includes("scheduledAt"));
  // The date has passed since it was chosen. A person must lift any other cause.
  return datePassed ? again(CLOCK_MAY_LAG_MS, outcome) : outcome;
}

function backOff(reason: string): PayOutcome {
  return { kind: "unknown", waitMs: null, reason };
}

function again(pauseMs: number | null, outcome: PayOutcome): Again {
  return { kind: "again", pauseMs, outcome };
}

function ofBusiness(
  fault: BusinessFault,
  scope: "source" | "business" = "business",
): PayOutcome & { readonly kind: "business-wait" } {
  return { ...fault, scope, isOpen: false };
}

/** Returns the outcome of a send that was answered with payments. */
export function paid(
  send: OpenedSend,
  judged: JudgedAnswer,
  payments: readonly Payment[],
): PayOutcome {
  const { madeIds: paymentIds } = judged;
  const made = payments.filter(({ id }) => paymentIds.includes(id));
  const sent = { send, ...judged };
  return { kind: "applied", payments: made, paymentIds, found: false, sent };
}
