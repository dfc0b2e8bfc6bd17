import type { Transaction } from "kysely";
import { type JudgedAnswer, judgeAnswer } from "../../src/ledger/answers.ts";
import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import type { Operation } from "../../src/ledger/operations.ts";
import { recordResults } from "../../src/ledger/results.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import { TimeLimit } from "../../src/payments-api/index.ts";
import { isOpenSubject } from "../../src/store/payables/open-subjects.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { type ActivityContext, HTTP_TIMEOUT_MS } from "../shared/context.ts";

/**
 * Starts a send's time limit, before the gate is asked, so that it ends no later than the gate's
 * own limit (rule 2).
 *
 * @param mostMs the limit, if the request must leave sooner
 */
export function leaveLimit(mostMs = LEAVE_WITHIN_MS): TimeLimit {
  return new TimeLimit(Math.min(LEAVE_WITHIN_MS, mostMs));
}

/** A send with its judged answer, and the answer's body as it came. */
export interface Left {
  readonly judged: JudgedAnswer;
  readonly body: unknown;
}

/**
 * Sends what the gate has let through: once, byte for byte, and only in time. Records nothing:
 * `recordAnswer` does that, or `recordPaid` together with the line that it pays.
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
  const judged = judgeAnswer(operation, answer, send);
  return { judged, body: answer.kind === "http" ? answer.body : undefined };
}

/**
 * Records the result of a send.
 *
 * @returns true if a send of its subject may still take effect
 */
export async function recordAnswer(
  trx: Transaction<Tables>,
  send: OpenedSend,
  judged: JudgedAnswer,
): Promise<boolean> {
  const { businessId, subject } = send;
  await recordResults(trx, businessId, [{ send, ...judged }]);
  return isOpenSubject(trx, businessId, subject);
}
