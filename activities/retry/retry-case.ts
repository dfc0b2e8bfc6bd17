import { wakeUp, wakeWorkflow } from "../../src/domain/facts/fact.ts";
import { LINE_MOVED } from "../../src/domain/facts/lines.ts";
import { record } from "../../src/store/facts/record.ts";
import { CHANGED_RECORD } from "../../src/domain/approvals/changed-records.ts";
import { isTrouble } from "../../src/domain/step-trouble.ts";
import { byWorkflow } from "../../src/contracts/authors.ts";
import { LINE_WAITS } from "../../src/ledger/said.ts";
import { HOUR_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { LINE } from "../../src/contracts/line-states.ts";
import { ENDED_PHASES } from "../../src/contracts/pay-run.ts";
import { nameOfBill } from "../../src/domain/history-texts.ts";
import { giveUpInMs } from "../../src/domain/retries/give-up.ts";
import { CONTRADICTION } from "../../src/domain/payments/as-approved.ts";
import { nextBankMorningMs } from "../../src/domain/payments/poll-times.ts";
import { soonestSleepMs, untilNextMs } from "../../src/domain/sleeps.ts";
import type { Payable, Payment } from "../../src/payments-api/index.ts";
import { paymentsOfBill } from "../../src/ledger/made-payments.ts";
import { timesPaidAgain } from "../../src/ledger/times-paid-again.ts";
import { notedPayment } from "../../src/ledger/notes.ts";
import { releaseClaim } from "../../src/store/payables/claims.ts";
import { databaseNowMs } from "../../src/store/sql/database-clock.ts";
import {
  changeLine,
  getRunLine,
  type LineChange,
  type RunLine,
} from "../../src/store/lines/lines.ts";
import { nextHoldEndMs } from "../../src/store/lines/next-changes.ts";
import { forgetRetryCase, getRetryCase } from "../../src/store/lines/retry-cases.ts";
import { updateRetry, type Retry, type RetryChange } from "../../src/store/retries/retries.ts";
import { getPlanLine } from "../../src/store/lines/plan-lines.ts";
import type { Run } from "../../src/store/runs/runs.ts";
import { adviseVendors } from "../runs/advise-vendors.ts";
import type { ActivityContext } from "../shared/context.ts";
import { readOfOne } from "../shared/one-read.ts";
import { takePayments } from "../follow/take-payments.ts";
import { notifyOfParked } from "../notify/parked-lines.ts";
import { unlessMissing } from "../shared/unless-missing.ts";
import { takeOver, type CaseSubject } from "./take-over.ts";

export type OpenedCase =
  | { readonly kind: "ours"; readonly case: RetryCase }
  | {
      readonly kind: "not-ours";
      readonly reason: string;
      /** True if no run has ever paid it. */
      readonly isExternal?: boolean;
    };

/**
 * Reads a case, and takes the payable over if nothing owns it: after a late return the run that
 * paid it has ended, and an event starts this owner as the first one since then.
 *
 * @param look true if an event has asked for it
 */
export async function openRetryCase(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
  look: boolean,
): Promise<OpenedCase> {
  const { business, payableId } = input;
  const { businessId } = context.profileOf(business);
  const subject = {
    business,
    businessId,
    payableId,
    workflowId: retryFailedPaymentId(business, payableId),
  };
  const clock = await context.clockOf(business).now();
  const { db } = context.store;
  const client = context.clientOf(business);
  const listed = await readOfOne(client, () => client.payments.listAll({ payableId }));
  const shown = await paymentsOfBill(db, businessId, payableId, listed);
  const taken = await takeOver(context, subject, shown, clock);
  if (taken.kind === "not-ours") return taken;
  const { run } = taken;
  const line = await getRunLine(db, run.runId, payableId);
  if (line === undefined) return { kind: "not-ours", reason: "no run has paid it" };
  const isMended = isTrouble(taken.row.reason);
  const reason = isMended ? null : taken.row.reason;
  const row = { ...taken.row, reason, look, retriesMade: await timesPaidAgain(db, line) };
  const follower = {
    businessId,
    actor: byWorkflow(subject.workflowId),
    runId: run.runId,
    nowMs: clock.realMs,
  };
  const payments = await takePayments(context, follower, shown);
  const payable = await readOfOne(client, () =>
    unlessMissing(() => client.payables.get(payableId)),
  );
  if (payable === null) return letGo(context, subject, line, clock);
  if (isMended) await updateRetry(db, subject, { reason }, row.updatedAtMs);
  const about = nameOfBill({ payableId, ...(await getPlanLine(db, run.runId, payableId)) });
  const read = { about, run, row, payments, payable, line, clock };
  return { kind: "ours", case: { ...subject, ...read, context } };
}

/**
 * Ends the case of a bill that the service doesn't know, because nobody can pay it: its line says
 * so, and its owner ends.
 */
async function letGo(
  context: ActivityContext,
  { businessId, payableId, workflowId }: CaseSubject,
  line: RunLine,
  clock: ClockReading,
): Promise<OpenedCase> {
  const reason = "The service doesn't know this bill any more.";
  await context.store.transactionOf(businessId, async (trx) => {
    const change = { state: "parked", reasonCode: "not_found", reason } as const;
    if (!LINE.ended.includes(line.state)) {
      await changeLine(trx, line, change, clock.realMs, { from: [line.state] });
      const head = { businessId, nowMs: clock.realMs, by: byWorkflow(workflowId) };
      const why = { from: line.state, reasonCode: change.reasonCode };
      await record(trx, LINE_MOVED.parked({ ...head, subject: payableId }, why));
      await record(trx, wakeUp(businessId, wakeWorkflow(line.runId)));
    }
    const ended = { phase: "ended", reason, requested: null };
    await updateRetry(trx, { businessId, payableId }, ended, clock.realMs);
    await releaseClaim(trx, { businessId, payableId, owner: workflowId });
  });
  return { kind: "not-ours", reason };
}

/** One failed payable with everything read about it at one moment. */
export interface RetryCase extends CaseSubject {
  readonly context: ActivityContext;
  /** The bill, as people call it. */
  readonly about: string;
  readonly run: Run;
  readonly line: RunLine;
  readonly row: Retry;
  readonly payments: readonly Payment[];
  readonly payable: Payable;
  readonly clock: ClockReading;
}

/** Returns the payments of the line, without the failures that have been dealt with. */
export function undealtPayments({ line, row, payments }: RetryCase): readonly Payment[] {
  return payments.filter(
    ({ id }) => line.paymentIds.includes(id) && !row.handledPaymentIds.includes(id),
  );
}

/**
 * Returns the service-clock instant until which the line backs off, a running lease included. An
 * event ends the back-off of a line that waits for the vendor's bank account or the bill's own
 * approval.
 */
export async function notBeforeMs(retry: RetryCase): Promise<number> {
  const { context, clock, line, row } = retry;
  const { db } = context.store;
  const now = await getRunLine(db, line.runId, line.payableId);
  const leaseMs = Math.max(0, (now?.leaseUntilMs ?? 0) - (await databaseNowMs(db)));
  const leasedUntilMs = leaseMs > 0 ? clock.serviceMs + leaseMs : 0;
  const isSignaled = row.look && OF_SERVICE.includes(line.reasonCode ?? "");
  return isSignaled ? leasedUntilMs : Math.max(now?.notBeforeMs ?? 0, leasedUntilMs);
}

/** Codes of what only this line waits for, as the service has said. */
const OF_SERVICE: readonly string[] = LINE_WAITS;

/** Codes of what Payrun itself waits for. */
const OWN_WAITS: readonly string[] = [CHANGED_RECORD, CONTRADICTION];

/** True if a line's reason says what keeps it from being tried again, which no day changes. */
export function saysMore({ state, reasonCode }: RunLine): boolean {
  const code = reasonCode ?? "";
  return state === "retrying" && (OF_SERVICE.includes(code) || OWN_WAITS.includes(code));
}

/** Returns real milliseconds until something about it can change without a signal. */
export async function changesInMs({
  context,
  businessId,
  payableId,
  clock,
}: RetryCase): Promise<number> {
  const { db } = context.store;
  const businessMs = Math.floor(clock.businessMs);
  const kept = await getRetryCase(db, businessId, payableId);
  const looksAtVendor = kept?.waitsFor === "bank-account" || kept?.waitsFor === "either-side";
  const vendorMs = looksAtVendor ? nextBankMorningMs(businessMs) : null;
  const givenUpInMs = kept === undefined ? Infinity : giveUpInMs(kept, clock);
  // A bill that a person wants paid is not given up, even if its time is over.
  const leftMs = givenUpInMs === 0 ? HOUR_MS : givenUpInMs;
  const holdEndMs = await nextHoldEndMs(db, { businessId, businessMs });
  return soonestSleepMs(untilNextMs([holdEndMs, vendorMs], clock), leftMs);
}

/** Changes the line, unless another actor, such as a person, has moved it meanwhile. */
export async function setLine(retry: RetryCase, change: LineChange): Promise<void> {
  const { businessId, payableId, workflowId, run, line } = retry;
  const nowMs = retry.clock.realMs;
  await retry.context.store.transactionOf(businessId, async (trx) => {
    const moved = await changeLine(trx, line, change, nowMs, { from: [line.state] });
    const { state, reason } = { ...line, ...change };
    const isNews = moved && (state !== line.state || reason !== line.reason);
    if (isNews) await record(trx, wakeUp(businessId, wakeWorkflow(run.runId)));
    if (!moved || change.state === undefined || change.state === line.state) return;
    const payments = retry.payments.filter(({ id }) => line.paymentIds.includes(id));
    const head = { businessId, nowMs, by: byWorkflow(workflowId), subject: payableId };
    const { reasonCode = null } = change;
    const why = { from: line.state, reasonCode, payments: payments.map(notedPayment) };
    await record(trx, LINE_MOVED[change.state](head, why));
    if (change.state === "settled") await adviseVendors(trx, run, [{ payableId, payments }], nowMs);
  });
}

/** Changes what is kept of the retry. */
export async function setRow(retry: RetryCase, change: RetryChange): Promise<void> {
  const { context, businessId, payableId, clock } = retry;
  await updateRetry(context.store.db, { businessId, payableId }, change, clock.realMs);
}

/** Ends the case and gives the payable back. */
export async function endCase(retry: RetryCase, outcome: string): Promise<void> {
  const { context, businessId, payableId, workflowId, clock } = retry;
  await context.store.transactionOf(businessId, async (trx) => {
    const change = { phase: "ended", reason: outcome, requested: null };
    await updateRetry(trx, { businessId, payableId }, change, clock.realMs);
    await forgetRetryCase(trx, { businessId, payableId });
    await releaseClaim(trx, { businessId, payableId, owner: workflowId });
  });
  await notifyPeople(retry);
}

/** Notifies people of a bill whose run has ended; a run at work notifies them of its own bills. */
export async function notifyPeople({ context, businessId, run, clock }: RetryCase): Promise<void> {
  if (!ENDED_PHASES.includes(run.phase)) return;
  const when = { nowMs: clock.realMs, isLast: true };
  await context.store.transactionOf(businessId, (trx) => notifyOfParked(trx, run, when));
}
