import { type JudgedAnswer, judgeAnswer } from "../../src/ledger/answers.ts";
import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import type { Operation } from "../../src/ledger/operations.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { TimeLimit } from "../../src/payments-api/index.ts";
import { type ActivityContext, HTTP_TIMEOUT_MS } from "./context.ts";

/**
 * Starts a send's time limit, before the gate is asked, so that it ends no later than the gate's
 * own limit (rule 2).
 *
 * @param mostMs the limit, if the request must leave sooner
 */
export function leaveLimit(mostMs = LEAVE_WITHIN_MS): TimeLimit {
  return new TimeLimit(Math.min(LEAVE_WITHIN_MS, mostMs));
}

/**
 * Sends what the gate has let through: once, byte for byte, and only in time. Records nothing:
 * `perform` does that, or a lane's book for many lines together.
 */
export async function leave(
  context: ActivityContext,
  business: string,
  operation: Operation,
  send: OpenedSend,
  limit: TimeLimit,
): Promise<JudgedAnswer> {
  const { body, path } = send.terms;
  const answer = await context.clientOf(business).sendMoneyWrite({
    method: "POST",
    path,
    bodyText: body === "" ? undefined : body,
    idempotencyKey: send.idempotencyKey,
    timeoutMs: HTTP_TIMEOUT_MS,
    leaveBy: limit,
  });
  return judgeAnswer(operation, answer, send);
}
