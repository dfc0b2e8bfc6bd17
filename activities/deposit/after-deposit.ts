import { serviceSays } from "../../src/domain/service-words.ts";
import type { JudgedAnswer } from "../../src/ledger/answers.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { BAD_TOKEN, slowDown } from "../shared/business-fault.ts";
import { backOffAfter } from "../shared/back-off.ts";
import type { DepositOutcome } from "./job.ts";

/** Back-off after a refusal that only a person can end, at the service. */
const REFUSED = { firstMs: 15_000, mostMs: 600_000 };

/**
 * Judges what the answer to a deposit means for the request; the ledger judges what it means for
 * the key.
 *
 * @param isOpen true if a send of it may still take effect
 */
export function afterDeposit(
  { means, madeIds }: JudgedAnswer,
  send: OpenedSend,
  isOpen: boolean,
): DepositOutcome {
  switch (means.kind) {
    case "applied": {
      const [transactionId = ""] = madeIds;
      return { kind: "made", transactionId, key: send.idempotencyKey, answer: "2xx" };
    }
    case "unknown":
      return backOffAfter(send, `It was sent and had no clear answer (${means.reason}).`);
    case "not-sent":
      return backOffAfter(send, `It could not be sent: ${means.reason}`);
    case "conflict":
      return backOffAfter(send, "The same deposit is still running at the service.");
    case "unconfirmed":
      return backOffAfter(send, "The service can't say whether it made the deposit.");
    case "rejected": {
      const reason = `The service refused the deposit (${means.code}).${serviceSays(means.message)}`;
      if (isOpen) return backOffAfter(send, `An earlier send was never answered. ${reason}`);
      return { kind: "refused", reason };
    }
    case "unauthorized":
      return BAD_TOKEN;
    case "forbidden": {
      const reason = `The token lacks a scope for deposits, such as balance:write (403).${serviceSays(means.message)}`;
      return backOffAfter(send, reason, REFUSED);
    }
    case "rate-limited":
      return slowDown(means.retryAfterMs);
    case "business-wait":
    case "in-progress":
    case "line-wait":
      return backOffAfter(
        send,
        `The service refuses deposits now (${means.code}).${serviceSays(means.message)}`,
        REFUSED,
      );
  }
}
