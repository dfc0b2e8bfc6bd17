import { randomUUID } from "node:crypto";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { idempotencyKey } from "../../src/domain/attempts/key.ts";

/** What is to be sent about a subject, and for whom. */
export type AttemptRequest = Pick<
  Attempt,
  | "businessId"
  | "subject"
  | "operation"
  | "path"
  | "body"
  | "owner"
  | "lineHash"
  | "contactId"
  | "sourceId"
  | "rail"
  | "amountCents"
  | "executionDate"
  | "knownPaymentIds"
>;

/** Of an attempt that has come to nothing yet. */
const OPEN = {
  state: "live",
  gaveUpAtMs: null,
  lookedUpAtMs: null,
  paymentIds: [],
  answer: null,
} as const;

/** The request frozen under the key of its `seq`; nothing of it is written or sent. */
export function newAttempt(request: AttemptRequest, seq: number): Attempt {
  return {
    ...request,
    ...OPEN,
    attemptId: randomUUID(),
    method: "POST",
    seq,
    idempotencyKey: idempotencyKey(request.businessId, request.subject, seq),
    sends: [],
    firstSentAtMs: null,
    lastSentAtMs: null,
  };
}

/** A released attempt with what is to be sent now: its key never had a final answer, and stays. */
export function revivedAttempt(released: Attempt, request: AttemptRequest): Attempt {
  return { ...released, ...request, ...OPEN };
}
