import type { ClockReading } from "../../src/business/clock.ts";
import { doublingMs } from "../../src/domain/back-off.ts";
import type { JudgedAnswer } from "../../src/ledger/answers.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { DepositOutcome } from "./job.ts";

/** Rests after a send without an answer, on the service's clock: they double. */
const FIRST_REST_MS = 1_000;
const REST_MAX_MS = 30_000;

/** Rests after a refusal that somebody must lift elsewhere. */
const REFUSED_REST_MS = 15_000;
const REFUSED_REST_MAX_MS = 600_000;

/**
 * What the answer to a deposit means for the request; what it means for the key is the ledger's.
 *
 * @param isOpen a send of it may still take effect
 */
export function afterDeposit(
  { means, madeIds }: JudgedAnswer,
  send: OpenedSend,
  isOpen: boolean,
  { serviceMs }: ClockReading,
): DepositOutcome {
  const tries = send.sendNo - 1;
  const rest = (reason: string): DepositOutcome => {
    const restMs = doublingMs(FIRST_REST_MS, REST_MAX_MS, tries);
    return { kind: "rest", notBeforeMs: serviceMs + restMs, reason };
  };
  const restLong = (reason: string): DepositOutcome => {
    const restMs = doublingMs(REFUSED_REST_MS, REFUSED_REST_MAX_MS, tries);
    return { kind: "rest", notBeforeMs: serviceMs + restMs, reason };
  };
  switch (means.kind) {
    case "applied": {
      const [transactionId = ""] = madeIds;
      return { kind: "made", transactionId, key: send.idempotencyKey, answer: "2xx" };
    }
    case "unknown":
      return rest(`It was sent and had no clear answer (${means.reason}).`);
    case "not-sent":
      return rest(`It could not be sent: ${means.reason}`);
    case "conflict":
      return rest("The same deposit is still running at the service.");
    case "unconfirmed":
      return rest("The service can't say whether it made the deposit.");
    case "rejected": {
      const reason = `The service refused the deposit (${means.code}): ${means.message}`;
      if (isOpen) return rest(`${reason}; and an earlier send was never answered.`);
      return { kind: "refused", reason };
    }
    case "unauthorized": {
      const message = "The service refuses the token (401). Renew it.";
      return { kind: "business-wait", code: "unauthorized", message, retryAfterMs: null };
    }
    case "forbidden":
      return restLong(
        `The token lacks a scope for deposits, such as balance:write (403): ${means.message}`,
      );
    case "rate-limited": {
      const message = "The service asked to slow down (429).";
      const { retryAfterMs } = means;
      return { kind: "business-wait", code: "rate_limited", message, retryAfterMs };
    }
    case "business-wait":
    case "in-progress":
    case "line-wait":
      return restLong(`The service refuses deposits now (${means.code}: ${means.message}).`);
  }
}
