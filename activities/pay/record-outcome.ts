import { doublingMs } from "../../src/domain/back-off.ts";
import type { Transaction } from "kysely";
import { isAnswered } from "../../src/domain/attempts/sends.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import type { LineState } from "../../src/contracts/pay-run.ts";
import { watchedUntilMs } from "../../src/domain/payments/return-window.ts";
import { mismatchOf } from "../../src/domain/payments/mismatch.ts";
import { lineStateOfPayments } from "../../src/domain/payments/payment-states.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { appendAudit } from "../../src/store/audit.ts";
import { endAttempt, notedPayment } from "../../src/store/attempt-writes.ts";
import { liveAttempt } from "../../src/store/attempts.ts";
import { releaseClaim } from "../../src/store/claims.ts";
import { createHold } from "../../src/store/holds.ts";
import { changeLine, type LineChange } from "../../src/store/lines.ts";
import { getRetry, updateRetry } from "../../src/store/retries.ts";
import { storeReplannedLines } from "../../src/store/replan-writes.ts";
import type { Tables } from "../../src/store/tables.ts";
import { clearWaits, setWait } from "../../src/store/waits.ts";
import { extendWatch } from "../../src/store/watches.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { tellUnanswered } from "../tell-late.ts";
import type { PayJob, PayOutcome } from "./job.ts";

const UNKNOWN_REST_MAX_MS = 600_000;

/** How long a retry rests whose vendor or bill can't be paid now, unless an event tells of it. */
const RETRY_LINE_WAIT_MS = 600_000;

/**
 * Writes what paying a line came to, one way only: nothing is written where a later draw holds the
 * line, whose result then counts.
 */
export async function recordOutcome(
  context: ActivityContext,
  job: PayJob,
  outcome: PayOutcome,
): Promise<void> {
  const clock = await context.clockOf(job.business).now();
  await context.store.transactionOf(job.businessId, async (trx) => {
    const change = await changeFor(trx, job, outcome, clock);
    const mine = await changeLine(trx, job.line, { ...change, releaseLease: true }, clock.realMs, {
      epoch: job.line.leaseEpoch,
    });
    if (!mine) return;
    await sideEffects(trx, job, outcome, clock);
    if (outcome.kind === "back" || change.state === undefined) return;
    await appendAudit(trx, {
      businessId: job.businessId,
      nowMs: clock.realMs,
      actor: job.owner,
      action: `line:${change.state}`,
      subject: job.plan.payableId,
      details: { outcome: outcome.kind, reasonCode: change.reasonCode, ...auditDetails(outcome) },
    });
  });
}

async function changeFor(
  trx: Transaction<Tables>,
  job: PayJob,
  outcome: PayOutcome,
  clock: ClockReading,
): Promise<LineChange> {
  const ownRun = job.owner === job.line.runId;
  // A retry's line stays its own: in any other state its run would draw it.
  const waiting: LineState = ownRun ? "planned" : "retrying";
  const open: LineState = ownRun ? "unknown" : "retrying";
  switch (outcome.kind) {
    case "applied":
      return {
        state: ownRun ? stateOf(outcome.payments, job) : "retrying",
        reasonCode: null,
        reason: outcome.found ? "Found by a look-up after its answer was lost." : null,
        paymentIds: [
          ...new Set([...job.line.paymentIds, ...outcome.payments.map((payment) => payment.id)]),
        ],
        pollAtMs: clock.businessMs,
      };
    case "unknown": {
      const attempt = await liveAttempt(trx, job.businessId, job.plan.payableId);
      return attempt === undefined
        ? { state: waiting, notBeforeMs: outcome.notBeforeMs }
        : {
            state: open,
            notBeforeMs: Math.max(outcome.notBeforeMs, clock.serviceMs + restMs(attempt)),
            reasonCode: "answer-unknown",
            reason: outcome.reason,
          };
    }
    case "back":
      return { state: waiting, notBeforeMs: outcome.notBeforeMs, verifiedAtMs: 0 };
    case "business-wait": {
      const attempt = await liveAttempt(trx, job.businessId, job.plan.payableId);
      const isOpen = attempt !== undefined && !isAnswered(attempt);
      // After a pause of seconds what was read two minutes ago is as good as it was.
      const again = outcome.code === "rate_limited" ? {} : { verifiedAtMs: 0 };
      return { state: isOpen ? open : waiting, ...again };
    }
    case "line-wait":
      return {
        ...(ownRun
          ? { state: "on-hold", pollAtMs: clock.businessMs + 3_600_000 }
          : { state: "retrying", notBeforeMs: clock.serviceMs + RETRY_LINE_WAIT_MS }),
        reasonCode: outcome.code,
        reason: outcome.message,
        verifiedAtMs: 0,
      };
    case "parked":
      return { state: "parked", reasonCode: outcome.code, reason: outcome.reason };
    case "paid-elsewhere":
      return { state: "paid-elsewhere", reasonCode: "paid-elsewhere", reason: outcome.reason };
    case "changed":
      if (!ownRun) {
        const reason = `Not retried: ${outcome.reason}. The next run asks for a new approval.`;
        return { state: "parked", reasonCode: "changed-since-approval", reason };
      }
      return { state: "awaiting-approval", reasonCode: "changed-since-approval" };
  }
}

/** A service that answers nothing for hours is asked ever more rarely; the first tries come soon. */
function restMs(attempt: Attempt): number {
  const rounds = Math.floor(attempt.sends.length / 3) - 2;
  return rounds <= 0 ? 0 : doublingMs(15_000, UNKNOWN_REST_MAX_MS, rounds);
}

/** Where a line stands by the payments that its request made. */
export function stateOf(payments: readonly Payment[], job: PayJob): LineState {
  const outcome = lineStateOfPayments(payments, job.plan.amountCents);
  // A failure in the very answer is left to the follower, which owns what comes after it.
  return outcome.kind === "state" ? outcome.state : "processing";
}

async function sideEffects(
  trx: Transaction<Tables>,
  job: PayJob,
  outcome: PayOutcome,
  clock: ClockReading,
): Promise<void> {
  const { businessId } = job;
  const { payableId } = job.plan;
  if (outcome.kind === "business-wait") {
    const sourceId = outcome.scope === "source" ? job.plan.funding.sourceId : "";
    await setWait(trx, {
      businessId,
      sourceId,
      code: outcome.code,
      message: outcome.message,
      nowMs: clock.serviceMs,
      realMs: clock.realMs,
      ...(outcome.retryAfterMs === null
        ? {}
        : { retryAtMs: clock.serviceMs + outcome.retryAfterMs }),
    });
  }
  if (outcome.kind === "unknown") {
    const attempt = await liveAttempt(trx, businessId, payableId);
    if (attempt !== undefined) await tellUnanswered(trx, attempt, job.line.runId, clock);
  }
  if (outcome.kind === "changed" && job.owner === job.line.runId) {
    const { plan, reason } = outcome;
    const { runId } = job.line;
    await storeReplannedLines(trx, { runId, lines: [{ plan, reason }], nowMs: clock.realMs });
  }
  if (outcome.kind === "applied") {
    await endApplied(trx, job, outcome, clock);
    const { sourceId } = job.plan.funding;
    await clearWaits(trx, { businessId, sourceId, realMs: clock.realMs });
    await alarmOnMismatch(trx, job, outcome.payments, clock);
  }
  if (outcome.kind === "paid-elsewhere") {
    await releaseClaim(trx, { businessId, payableId, owner: job.owner });
  }
}

/**
 * Gives the attempt its final answer in the transaction that gives the line its payments: a crash
 * between the two would leave a payment that nobody follows.
 */
async function endApplied(
  trx: Transaction<Tables>,
  job: PayJob,
  { attempt, payments, found }: PayOutcome & { readonly kind: "applied" },
  clock: ClockReading,
): Promise<void> {
  await endAttempt(
    trx,
    attempt,
    {
      as: found ? "adopted" : "applied",
      sends: attempt.sends,
      paymentIds: payments.map((payment) => payment.id),
      answer: found ? "found by look-up" : "2xx",
      details: { payments: payments.map(notedPayment) },
    },
    clock.realMs,
  );
  if (job.owner === job.line.runId) return;
  const { businessId } = job;
  const { payableId } = job.plan;
  const retriesMade = ((await getRetry(trx, businessId, payableId))?.retriesMade ?? 0) + 1;
  const change = { phase: "following", requested: null, retriesMade };
  await updateRetry(trx, { businessId, payableId }, change, clock.realMs);
  const untilMs = watchedUntilMs(clock.businessMs);
  await extendWatch(trx, { businessId, payableId, untilMs });
}

/** Why, in our own words: what the service says may name people, and stays with the attempt. */
function auditDetails(outcome: PayOutcome): Record<string, unknown> {
  switch (outcome.kind) {
    case "paid-elsewhere":
    case "changed":
      return { reason: outcome.reason };
    case "business-wait":
      return { code: outcome.code, scope: outcome.scope };
    case "applied":
    case "unknown":
    case "line-wait":
    case "parked":
    case "back":
      return {};
  }
}

/** What was made must be what was approved; where it is not, nothing more is drawn. */
export async function alarmOnMismatch(
  trx: Transaction<Tables>,
  job: PayJob,
  payments: readonly Payment[],
  clock: ClockReading,
): Promise<void> {
  const wrong = mismatchOf(job.plan, payments);
  if (wrong === null) return;
  await createHold(trx, {
    businessId: job.businessId,
    scope: "run",
    value: job.line.runId,
    reason: `Payments made for ${job.plan.payableId} are not what was approved: ${wrong}`,
    author: "payrun",
    nowMs: clock.realMs,
    untilMs: null,
  });
}
