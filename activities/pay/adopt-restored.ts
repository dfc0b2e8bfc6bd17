import { mismatchOf } from "../../src/domain/payments/mismatch.ts";
import { isKnownUnpaid } from "../../src/domain/payments/payment-states.ts";
import { recordLookUp } from "../../src/store/attempt-writes.ts";
import { attemptsOf, insertAttempt } from "../../src/store/attempts.ts";
import { wasBehind } from "../../src/store/sweep-behind.ts";
import type { ActivityContext } from "../context.ts";
import { attemptOf } from "./freeze-attempt.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { adopt } from "./look-up.ts";

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
  const { payableId } = plan;
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
  const before = found.filter(({ id }) => known.has(id)).map(({ id }) => id);
  const attempt = attemptOf({ ...job, operation: "pay" }, plan.executionDate, before, seq);
  const { serviceMs } = await context.clockOf(job.business).now();
  const facts = { verdict: "adopt", isConclusive: true, shown: found.length, found: made };
  await context.store.transactionOf(businessId, async (trx) => {
    const nowMs = Date.now();
    await insertAttempt(trx, attempt, nowMs);
    await recordLookUp(trx, attempt, facts, { serviceMs, nowMs });
  });
  return adopt(attempt, made);
}
