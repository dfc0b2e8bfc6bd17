import { type JudgedAnswer, judgeAnswer } from "../../src/ledger/answers.ts";
import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import type { Operation } from "../../src/ledger/operations.ts";
import type { SendOutcome } from "../../src/ledger/results.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { TimeLimit } from "../../src/payments-api/index.ts";
import { type ActivityContext, HTTP_TIMEOUT_MS } from "../context.ts";

/** Started before the gate is asked, so that it ends no later than the gate's own limit (rule 2). */
export function leaveLimit(): TimeLimit {
  return new TimeLimit(LEAVE_WITHIN_MS);
}

/** A send with its judged answer, and the answer's body as it came. */
export interface Left {
  readonly judged: JudgedAnswer;
  readonly body: unknown;
}

/**
 * Sends what the gate has let through: once, byte for byte, and only in time. Nothing is recorded:
 * `outcomeOf` says what is to be.
 */
export async function leave(
  context: ActivityContext,
  business: string,
  operation: Operation,
  send: OpenedSend,
  limit: TimeLimit,
): Promise<Left> {
  const { body, path } = send.terms;
  const answer = await context.clientOf(business).sendMoneyWrite({
    method: "POST",
    path,
    bodyText: body === "" ? undefined : body,
    idempotencyKey: send.idempotencyKey,
    timeoutMs: HTTP_TIMEOUT_MS,
    leaveBy: limit,
  });
  const judged = judgeAnswer(operation, answer);
  // A service may answer with all payments of the bill; a replay only has those that were known.
  const made = judged.madeIds.filter((id) => !send.baseline.includes(id));
  const madeIds = made.length > 0 ? made : judged.madeIds;
  return {
    judged: { ...judged, madeIds },
    body: answer.kind === "http" ? answer.body : undefined,
  };
}

/** What is to be recorded of a send. */
export function outcomeOf(send: OpenedSend, judged: JudgedAnswer): SendOutcome {
  const { result, status, code, message, answerDateMs, madeIds } = judged;
  return { send, result, status, code, message, answerDateMs, madeIds };
}
