import type { RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { isReinitiable } from "../../src/domain/payments/failure-policy.ts";
import { isOnItsWay } from "../../src/domain/payments/payment-states.ts";
import { liveAttempt } from "../../src/store/attempts.ts";
import { isRejected } from "../../src/store/decisions.ts";
import { activeHoldFor } from "../../src/store/holds.ts";
import { lineApproved } from "../../src/store/line-approvals.ts";
import { planLineOf, type RunLine } from "../../src/store/lines.ts";
import { getPlan } from "../../src/store/plans.ts";
import { probeWaits } from "../../src/store/waits.ts";
import { WeekSums } from "../../src/store/week-sums.ts";
import { LEASE_MS, type ActivityContext } from "../context.ts";
import type { PayJob, PayOutcome } from "../pay/job.ts";
import { outcomeOfError } from "../pay/lane.ts";
import { payLine } from "../pay/pay-line.ts";
import { recordOutcome } from "../pay/record-outcome.ts";
import { openRetryCase, type RetryCase } from "./retry-case.ts";

/**
 * Pays a failed payable again, under its own attempt, through the very gate that runs go through:
 * claim, holds and a valid approval of exactly this line.
 */
export async function payRetry(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
  by: string,
): Promise<void> {
  const opened = await openRetryCase(context, input);
  if (opened.kind === "not-ours") return;
  const retry = opened.case;
  const line = await leaseLine(context, retry, by);
  if (line === undefined) return;
  const job = await jobOf(context, retry, line, by);
  const outcome =
    (await overLimit(context, retry, job)) ??
    (await payLine(context, job).catch((error: unknown) => outcomeOfError(context, job, error)));
  await recordOutcome(context, job, outcome);
  await afterOutcome(context, retry, outcome);
}

async function jobOf(
  context: ActivityContext,
  retry: RetryCase,
  line: RunLine,
  by: string,
): Promise<PayJob> {
  const { db } = context.store;
  const plan = await planLineOf(db, line);
  const attempt = await liveAttempt(db, retry.businessId, retry.payableId);
  const stored = await getPlan(db, retry.run.runId);
  return {
    owner: retry.workflowId,
    business: retry.business,
    businessId: retry.businessId,
    playbook: retry.run.playbook,
    policy: retry.run.policy,
    line: { ...line, verifiedAtMs: 0 },
    plan,
    attempt,
    maySend: await maySend(context, retry, line),
    by,
    operation: mayReinitiate(retry, plan.amountCents) ? "retry-payment" : "pay",
    plannedAtMs: stored?.createdAtMs ?? 0,
    datesMove: true,
  };
}

/**
 * The limit that stops a bill which was never sent, as it would have stopped the run: a person's
 * retry is no way around the playbook. What was sent before has been held against it already.
 */
async function overLimit(
  context: ActivityContext,
  retry: RetryCase,
  { line, plan, policy }: PayJob,
): Promise<PayOutcome | undefined> {
  if (line.attempts > 0) return undefined;
  const weeks = new WeekSums(context.store.db, {
    limits: policy.limits,
    businessMs: retry.clock.businessMs,
  });
  const refusal = plan.overLimit ?? (await weeks.refusal(line));
  return refusal === null
    ? undefined
    : { kind: "parked", code: refusal.code, reason: refusal.text };
}

/** Whether the gate would open; where it would not, what was sent is looked up only. */
async function maySend(
  context: ActivityContext,
  retry: RetryCase,
  line: RunLine,
): Promise<boolean> {
  const { db } = context.store;
  const { businessMs } = retry.clock;
  const facts = { ...line, playbook: retry.run.playbook, businessNowMs: businessMs };
  const hold = await activeHoldFor(db, facts);
  if (hold !== undefined || (await isRejected(db, line.runId))) return false;
  return lineApproved(db, line, businessMs);
}

/** The service's own retry is used only where nothing about it is ambiguous (readings). */
function mayReinitiate(retry: RetryCase, approvedCents: number): boolean {
  const [failed, ...others] = retry.payments.filter((payment) => payment.status === "failed");
  return (
    failed !== undefined &&
    others.length === 0 &&
    // Somebody else's payment may have been made from another source, which would be used again.
    retry.line.paymentIds.includes(failed.id) &&
    isReinitiable(retry.row.reasonCode) &&
    !retry.payments.some((payment) => isOnItsWay(payment.status)) &&
    failed.amountCents === approvedCents &&
    retry.payable.totalAmountCents - retry.payable.amountPaidCents === approvedCents
  );
}

async function leaseLine(
  context: ActivityContext,
  retry: RetryCase,
  by: string,
): Promise<RunLine | undefined> {
  const now = Date.now();
  return context.store.transactionOf(retry.businessId, async (trx) => {
    const epoch = retry.line.leaseEpoch + 1;
    const result = await trx
      .updateTable("run_lines")
      .set({ lease_epoch: epoch, lease_owner: by, lease_until_ms: now + LEASE_MS })
      .where("run_id", "=", retry.line.runId)
      .where("payable_id", "=", retry.payableId)
      .where("lease_epoch", "=", retry.line.leaseEpoch)
      .where((eb) => eb.or([eb("lease_until_ms", "is", null), eb("lease_until_ms", "<", now)]))
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) return undefined;
    const { businessId, clock, line } = retry;
    await probeWaits(trx, { businessId, sourceIds: [line.sourceId], nowMs: clock.serviceMs });
    return { ...line, leaseEpoch: epoch };
  });
}

async function afterOutcome(
  context: ActivityContext,
  retry: RetryCase,
  outcome: PayOutcome,
): Promise<void> {
  if (outcome.kind === "changed") {
    // The next run plans it anew, so it must be free.
    await retry.end(outcome.reason);
    return;
  }
  if (outcome.kind === "parked") {
    await retry.update({ phase: "parked", reason: outcome.reason, requested: null });
    await retry.tellRun();
    return;
  }
  if (outcome.kind !== "back") return;
  const { businessMs } = retry.clock;
  if (await lineApproved(context.store.db, retry.line, businessMs)) return;
  const reason = "No valid approval of it is stored any more. The next run asks again.";
  await retry.setLine({ state: "parked", reasonCode: "approval-expired", reason }, ["retrying"]);
  await retry.end("approval expired");
}
