import { randomUUID } from "node:crypto";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { idempotencyKey } from "../../src/domain/attempts/key.ts";
import { mismatchOf } from "../../src/domain/payments/mismatch.ts";
import { isKnownUnpaid } from "../../src/domain/payments/payment-states.ts";
import { attemptsOf, insertAttempt } from "../../src/store/attempts.ts";
import { wasBehind } from "../../src/store/sweep-behind.ts";
import type { ActivityContext } from "../context.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { adopt } from "./look-up.ts";
import { PAY_PATH, payBody } from "./request-body.ts";

/**
 * Takes over the payments of a bill of which nothing is owed any more, where a store that was
 * restored from a backup has forgotten that it made them: the run then follows them to the end,
 * instead of leaving them as somebody else's.
 *
 * Only payments that nobody here knows, that come to exactly what was approved, and on its terms.
 *
 * @returns undefined where they are not ours
 */
export async function adoptRestored(
  context: ActivityContext,
  job: PayJob,
): Promise<PayOutcome | undefined> {
  const { db } = context.store;
  const { businessId, line, plan } = job;
  const { payableId, amountCents, funding } = plan;
  if (!(await wasBehind(db, businessId))) return undefined;
  const earlier = await attemptsOf(db, businessId, payableId);
  const known = new Set([
    ...line.paymentIds,
    ...earlier.flatMap((attempt) => [...attempt.paymentIds, ...attempt.knownPaymentIds]),
  ]);
  const found = await context.clientOf(job.business).payments.listAll({ payableId });
  const made = found.filter(({ id, status }) => !known.has(id) && !isKnownUnpaid(status));
  if (made.length === 0 || mismatchOf(plan, made) !== null) return undefined;
  const seq = (earlier.at(-1)?.seq ?? 0) + 1;
  const attempt: Attempt = {
    attemptId: randomUUID(),
    businessId,
    subject: payableId,
    seq,
    operation: "pay",
    method: "POST",
    path: PAY_PATH,
    body: payBody(plan, plan.executionDate),
    idempotencyKey: idempotencyKey(businessId, payableId, seq),
    owner: job.owner,
    lineHash: line.lineHash,
    contactId: plan.contactId,
    sourceId: funding.sourceId,
    rail: funding.rail,
    amountCents,
    executionDate: plan.executionDate,
    knownPaymentIds: found.filter(({ id }) => known.has(id)).map(({ id }) => id),
    sends: [],
    state: "live",
    firstSentAtMs: null,
    lastSentAtMs: null,
    gaveUpAtMs: null,
    lookedUpAtMs: null,
    paymentIds: [],
    answer: null,
  };
  await context.store.transaction((trx) => insertAttempt(trx, attempt, Date.now()));
  return adopt(attempt, made);
}
