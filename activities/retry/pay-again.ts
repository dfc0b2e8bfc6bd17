import type { RetryAssessment, RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { LINE } from "../../src/contracts/line-states.ts";
import { retryDate } from "../../src/domain/planning/send-date.ts";
import { timesPaidAgain } from "../../src/ledger/times-paid-again.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { leaseLine } from "../../src/store/lines/line-leases.ts";
import { getRunLine, planLineOf, type RunLine } from "../../src/store/lines/lines.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { getRetry } from "../../src/store/retries/retries.ts";
import { testWaits } from "../../src/store/runs/waits.ts";
import type { PayOutcome, PayOwner } from "../pay/job.ts";
import { stateOfPaid } from "../pay/line-change.ts";
import { payLine } from "../pay/pay-line.ts";
import { inSlot } from "../pay/slots.ts";
import { LEASE_MS, type ActivityContext } from "../shared/context.ts";
import { limitsOf } from "../shared/limits-of.ts";
import { following } from "./answers.ts";
import { approvalEndOf } from "./approval.ts";
import { RETRIED_LINES, STOPPED } from "./retried-lines.ts";
import { reviewFailedPayment, judge, withCase } from "./review-failed-payment.ts";
import { endCase, notifyPeople, type RetryCase, setRow } from "./retry-case.ts";

/**
 * Looks at a failed payable, and pays it again if no hold applies to it.
 *
 * The slot comes first: what was read should be as fresh as possible when it is used.
 *
 * @param by this worker and activity attempt
 * @param stop ends the wait for a slot; then nothing is paid
 */
export async function payAgain(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
  { by, stop }: { readonly by: string; readonly stop: AbortSignal },
): Promise<RetryAssessment> {
  const { businessId } = context.profileOf(input.business);
  const slot = { kind: "retry", businessId } as const;
  const now = await inSlot(context.store, slot, stop, async () => {
    const judged = await withCase(context, input, async (retry) => {
      const found = await judge(retry);
      return found.phase === "pay" ? { retry } : found;
    });
    // Outside the reading: its success says nothing about a wait that paying begins.
    return "retry" in judged ? payCase(judged.retry, by) : judged;
  });
  return now ?? reviewFailedPayment(context, input);
}

/**
 * Pays a failed payable again, as a run pays its lines: through the one gate, under the next key
 * once everything that the last one made is known to be unpaid.
 *
 * @returns where a payment that was made stands; undefined if the case has to be read again
 */
export async function payCase(judged: RetryCase, by: string): Promise<RetryAssessment | undefined> {
  const { context } = judged;
  const retry = await asOfNow(judged);
  if (retry === undefined) return undefined;
  const line = await leaseForRetry(retry, by);
  if (line === undefined) return undefined;
  const job = { line, plan: await planLineOf(context.store.db, line) };
  const owner = await ownerOf(retry, by);
  const { outcome, isMine } = await payLine(context, { owner, job });
  // Another worker may have leased the line since; then the outcome here doesn't apply to it.
  if (!isMine) return undefined;
  await afterOutcome(retry, outcome);
  return outcome.kind === "applied" ? onItsWay(retry, outcome.payments) : undefined;
}

/**
 * Returns the case with what is kept of it now: the judgment itself may have announced another day.
 *
 * @returns undefined if another worker or a person has moved the case since it was read
 */
async function asOfNow(retry: RetryCase): Promise<RetryCase | undefined> {
  const { context, business, businessId, payableId, run } = retry;
  const { db } = context.store;
  const line = await getRunLine(db, run.runId, payableId);
  const row = await getRetry(db, businessId, payableId);
  const { look, retriesMade, phase, requested, requestNo } = retry.row;
  if (line?.leaseEpoch !== retry.line.leaseEpoch) return undefined;
  if (row?.phase !== phase || row.requested !== requested) return undefined;
  if (row.requestNo !== requestNo) return undefined;
  const clock = await context.clockOf(business).now();
  return { ...retry, line, row: { ...row, look, retriesMade }, clock };
}

/**
 * Follows what was just paid; if the answer says that it is over already, the case is read again.
 */
async function onItsWay(
  retry: RetryCase,
  made: readonly Payment[],
): Promise<RetryAssessment | undefined> {
  const state = stateOfPaid(made, retry.line.amountCents);
  if (!LINE.withBank.includes(state)) return undefined;
  const ids = made.map(({ id }) => id);
  const payments = withNewer(retry.payments, made);
  const line = { ...retry.line, paymentIds: [...new Set([...retry.line.paymentIds, ...ids])] };
  const retriesMade = await timesPaidAgain(retry.context.store.db, line);
  const paid = { ...retry, line, payments, row: { ...retry.row, retriesMade } };
  return following(paid, `the new payment is ${state}`);
}

async function ownerOf(retry: RetryCase, by: string): Promise<PayOwner> {
  const { business, businessId, context, run, workflowId } = retry;
  const stored = await getPlan(context.store.db, run.runId);
  const day = retryDate(retry.row, retry.clock);
  return {
    owner: workflowId,
    runId: run.runId,
    business,
    businessId,
    playbook: run.playbook,
    policy: run.policy,
    limits: () => limitsOf(context, run),
    by,
    lines: RETRIED_LINES,
    plannedAtMs: stored?.createdAtMs ?? 0,
    runsOn: async (shown) => {
      if (day === null) return null;
      const payments = withNewer(retry.payments, shown);
      // Payments that came back since the case was read may have ended the approval.
      return (await approvalEndOf({ ...retry, payments }, day)) === null ? day : null;
    },
  };
}

/** Returns payments as the latest read shows them. */
function withNewer(known: readonly Payment[], newer: readonly Payment[]): Payment[] {
  const ids = new Set(newer.map(({ id }) => id));
  return [...known.filter(({ id }) => !ids.has(id)), ...newer];
}

async function leaseForRetry(retry: RetryCase, by: string): Promise<RunLine | undefined> {
  return retry.context.store.transactionOf(retry.businessId, async (trx) => {
    const { businessId, clock, line } = retry;
    const leased = await leaseLine(trx, line, { by, leaseMs: LEASE_MS });
    if (leased === undefined) return undefined;
    await testWaits(trx, { businessId, sourceIds: [line.sourceId], nowMs: clock.serviceMs });
    return leased;
  });
}

async function afterOutcome(retry: RetryCase, outcome: PayOutcome): Promise<void> {
  // A person may ask again as soon as the outcome is recorded: that request is not this one.
  const actedOn = retry.row.requestNo;
  switch (outcome.kind) {
    case "changed":
      // The next run plans it anew, so it must be free.
      return endCase(retry, outcome.reason);
    case "not-approved":
      return endCase(retry, "approval expired");
    case "stopped":
      await setRow(retry, { phase: "parked", reason: STOPPED[outcome.code], actedOn });
      return notifyPeople(retry);
    case "parked":
      await setRow(retry, { phase: "parked", reason: outcome.reason, actedOn });
      return notifyPeople(retry);
    default:
      return undefined;
  }
}
