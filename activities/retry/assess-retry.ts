import type { RetryAssessment, RetryFailedPaymentInput } from "../../src/contracts/activities.ts";
import { addBankingDays } from "../../src/domain/clock/bank-calendar.ts";
import { newYorkDate, newYorkInstantMs } from "../../src/domain/clock/new-york.ts";
import { formatUsd } from "../../src/domain/money.ts";
import {
  classifyFailures,
  isReinitiable,
  REINITIATIONS_MAX,
} from "../../src/domain/payments/failure-policy.ts";
import { owedCents } from "../../src/domain/payments/owed.ts";
import {
  lineStateOfPayments,
  type FailedPayment,
} from "../../src/domain/payments/payment-states.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import { liveAttempt } from "../../src/store/attempts.ts";
import { activeHoldFor } from "../../src/store/holds.ts";
import { listWaits } from "../../src/store/waits.ts";
import type { ActivityContext } from "../context.ts";
import { openRetryCase, type RetryCase } from "./retry-case.ts";

/** Longest sleeps between looks, in real time, by what is waited for. */
const SANDBOX_WAKE_MS = 1_000;
const PARKED_SANDBOX_WAKE_MS = 5_000;
const REAL_WAKE_MS = 30 * 60_000;
const PARKED_REAL_WAKE_MS = 6 * 3_600_000;

const UNANSWERED = "an attempt without a final answer";

/**
 * Reads everything about a failed or returned payable again and says what its owner does next:
 * wait for the next banking day, pay, follow what was paid, wait for a person, or end.
 */
export async function assessRetry(
  context: ActivityContext,
  input: RetryFailedPaymentInput,
): Promise<RetryAssessment> {
  const found = await openRetryCase(context, input);
  if (found.kind === "not-ours") return ended(found.reason);
  const retry = found.case;
  if (["paid-elsewhere", "given-up", "cancelled"].includes(retry.line.state)) {
    return finish(retry, `a person or the run ended it: ${retry.line.state}`);
  }
  const live = await liveAttempt(context.store.db, retry.businessId, retry.payableId);
  // What a person must lift first is not sent again before somebody says so.
  const waitsForPerson = retry.row.phase === "parked" && retry.row.requested === null;
  if (live !== undefined && !waitsForPerson) return payWhenFree(context, retry, UNANSWERED);
  const open = retry.payments.filter(
    ({ id }) => retry.line.paymentIds.includes(id) && !retry.row.handledPaymentIds.includes(id),
  );
  const outcome = lineStateOfPayments(open, retry.line.amountCents);
  if (outcome.kind === "failed") {
    if (outcome.othersOnTheirWay) return following(retry, "other parts are still on their way");
    return afterFailure(context, retry, outcome.reasons);
  }
  if (open.length > 0) {
    if (outcome.kind === "state" && outcome.state === "settled") {
      await retry.setLine({ state: "settled", reasonCode: null, reason: settledReason(retry) });
      return finish(retry, "settled");
    }
    if (outcome.kind === "state" && ["cancelled", "refunded"].includes(outcome.state)) {
      await retry.setLine({ state: outcome.state, reason: outcome.text });
      return finish(retry, outcome.state);
    }
    if (outcome.kind === "partial" && retry.row.requested === "retry") {
      return askAgain(retry, outcome.missingCents);
    }
    if (outcome.kind === "partial") {
      return park(context, retry, "partly-paid", `${outcome.text}. Compare it with the bank.`);
    }
    return following(retry, `the new payment is ${outcome.state}`);
  }
  return withoutOpenPayment(context, retry);
}

/** A payment failed: by its reason, another try on the next banking day, or a person. */
async function afterFailure(
  context: ActivityContext,
  retry: RetryCase,
  failures: readonly FailedPayment[],
): Promise<RetryAssessment> {
  const failed = classifyFailures(failures);
  // Written with what follows from it: a crash in between must find the failure still open.
  const handledPaymentIds = [
    ...retry.row.handledPaymentIds,
    ...failures.map((failure) => failure.paymentId),
  ];
  const failedCents = failures.reduce((sum, failure) => sum + failure.amountCents, 0);
  const code = failed.code ?? "unknown-reason";
  const told = failures[0]?.failureReason ?? "no reason given";
  if (failed.action === "park" || !isReinitiable(failed.code)) {
    return park(context, retry, code, `${told}. ${failed.text}`, handledPaymentIds);
  }
  if (failedCents !== retry.line.amountCents) {
    const reason = `Only a part failed (${told}); a person decides.`;
    return park(context, retry, "partly-failed", reason, handledPaymentIds);
  }
  if (retry.row.retriesMade >= failed.maxRetries) {
    return park(
      context,
      retry,
      code,
      `${told}. Retried ${retry.row.retriesMade} times, which is all that Nacha's rules allow. ${failed.text}`,
      handledPaymentIds,
    );
  }
  if (retry.run.cancelRequestedAtMs !== null) {
    const reason = `${told}. Its run was cancelled, so nothing is tried again by itself.`;
    return park(context, retry, code, reason, handledPaymentIds);
  }
  const retryOn = addBankingDays(newYorkDate(retry.clock.businessMs), 1);
  await retry.setLine({
    state: "retrying",
    reasonCode: code,
    reason: `${told}. Tried again on ${retryOn} (${retry.row.retriesMade + 1} of ${failed.maxRetries}).`,
  });
  await retry.update({
    phase: "waiting",
    retryOn,
    reasonCode: code,
    reason: told,
    handledPaymentIds,
  });
  return waitForDay(retry, retryOn);
}

/** Nothing is on its way and every failure is dealt with: the day, a person, or the end. */
async function withoutOpenPayment(
  context: ActivityContext,
  retry: RetryCase,
): Promise<RetryAssessment> {
  if (retry.row.phase === "following") {
    return following(retry, "the service doesn't show the new payment yet");
  }
  const owed = owedCents({
    totalCents: retry.payable.totalAmountCents,
    amountPaidCents: retry.payable.amountPaidCents,
    payments: retry.payments,
  });
  if (owed === 0) {
    await retry.setLine({
      state: "paid-elsewhere",
      reasonCode: "paid-elsewhere",
      reason: "Nothing is owed any more: somebody else has paid it, or is paying it now.",
    });
    return finish(retry, "paid elsewhere");
  }
  if (retry.row.requested === "retry") {
    if (isUsedUp(retry)) return leaveToNextRun(retry);
    await retry.setLine({ state: "retrying", reason: `Retried by ${retry.row.requestedBy}.` });
    return payWhenFree(context, retry, "a person asked for it");
  }
  if (retry.row.phase === "waiting" && retry.row.retryOn !== null) {
    if (retry.run.cancelRequestedAtMs !== null) {
      const reason = `${retry.row.reason ?? "It failed"}. Its run was cancelled before it was tried again.`;
      return park(context, retry, retry.row.reasonCode ?? "run-cancelled", reason);
    }
    if (newYorkDate(retry.clock.businessMs) < retry.row.retryOn) {
      return waitForDay(retry, retry.row.retryOn);
    }
    return payWhenFree(context, retry, `it is ${retry.row.retryOn}`);
  }
  if (retry.row.phase === "ended") return finish(retry, retry.row.reason ?? "it has ended");
  if (retry.line.state === "settled") return finish(retry, "nothing is wrong with it");
  return parkedFor(retry);
}

/** An approval covers reinitiations within Nacha's cap; a person can't stretch it, only a new one can. */
function isUsedUp({ row }: RetryCase): boolean {
  return isReinitiable(row.reasonCode) && row.retriesMade >= REINITIATIONS_MAX;
}

async function leaveToNextRun(retry: RetryCase): Promise<RetryAssessment> {
  const reason = `Retried ${retry.row.retriesMade} times under its approval, which is all that Nacha's rules allow. The next run asks for a new approval.`;
  await retry.setLine({ state: "parked", reasonCode: "retries-used-up", reason });
  return finish(retry, "left to the next run");
}

/** What is left is not what was approved: the bill is given back, and the next run plans it. */
async function askAgain(retry: RetryCase, missingCents: number): Promise<RetryAssessment> {
  const reason = `${formatUsd(missingCents)} of it is still owed, which is not the amount that was approved. The next run asks for a new approval.`;
  await retry.setLine({ state: "parked", reasonCode: "changed-since-approval", reason });
  return finish(retry, "left to the next run");
}

async function payWhenFree(
  context: ActivityContext,
  retry: RetryCase,
  because: string,
): Promise<RetryAssessment> {
  const { businessId, run, line, clock } = retry;
  const hold = await activeHoldFor(context.store.db, {
    ...line,
    businessId,
    playbook: run.playbook,
    businessNowMs: clock.businessMs,
  });
  const isSent = because === UNANSWERED;
  if (hold !== undefined && !isSent) {
    return assessment(retry, "waiting", `on hold: ${hold.reason}`, longest(retry, true));
  }
  const waits = (await listWaits(context.store.db, retry.businessId)).filter(
    (wait) => wait.retryAtMs > retry.clock.serviceMs,
  );
  const restUntilMs = Math.max(await retry.notBeforeMs(), ...waits.map((wait) => wait.retryAtMs));
  const restMs = restUntilMs - retry.clock.serviceMs;
  if (restMs <= 0) return assessment(retry, "pay", `pays now: ${because}`, 0);
  const text = waits[0]?.message ?? "resting before the next look-up";
  return assessment(retry, "waiting", text, Math.min(restMs, longest(retry, false)));
}

function waitForDay(retry: RetryCase, retryOn: string): RetryAssessment {
  const { businessMs, scale } = retry.clock;
  const untilMs = (newYorkInstantMs(retryOn, "00:00") - businessMs) / scale;
  const wakeInMs = Math.min(Math.max(250, untilMs), longest(retry, false));
  return assessment(retry, "waiting", `waits for the next banking day, ${retryOn}`, wakeInMs);
}

function following(retry: RetryCase, text: string): RetryAssessment {
  const { businessMs, scale } = retry.clock;
  const changes = retry.payments
    .map(({ updatedAt, createdAt }) => Date.parse(updatedAt ?? createdAt ?? ""))
    .filter((ms) => !Number.isNaN(ms));
  const pollMs = nextPollMs(businessMs, Math.max(0, ...changes), scale);
  const wakeInMs = Math.min(Math.max(250, (pollMs - businessMs) / scale), longest(retry, false));
  return assessment(retry, "following", text, wakeInMs);
}

async function park(
  context: ActivityContext,
  retry: RetryCase,
  code: string,
  reason: string,
  handledPaymentIds: readonly string[] = retry.row.handledPaymentIds,
): Promise<RetryAssessment> {
  await retry.setLine({ state: "parked", reasonCode: code, reason });
  await retry.update({
    phase: "parked",
    reasonCode: code,
    reason,
    requested: null,
    handledPaymentIds,
  });
  await retry.tellRun();
  const { payableId, clock } = retry;
  return parkedFor({ payableId, clock, row: { ...retry.row, reason } });
}

function parkedFor(retry: Pick<RetryCase, "row" | "payableId" | "clock">): RetryAssessment {
  const reason = retry.row.reason ?? "a person must act";
  return {
    phase: "parked",
    waitingFor: "a person: payrun resolve --retry, --paid-elsewhere or --give-up",
    wakeInMs: longest(retry, true),
    details: `**Parked**: ${reason}\n\nResolve \`${retry.payableId}\` with \`payrun resolve\`.`,
    outcome: null,
  };
}

async function finish(retry: RetryCase, outcome: string): Promise<RetryAssessment> {
  await retry.end(outcome);
  return ended(outcome);
}

function ended(outcome: string): RetryAssessment {
  return { phase: "ended", waitingFor: null, wakeInMs: 0, details: `Ended: ${outcome}.`, outcome };
}

function assessment(
  retry: RetryCase,
  phase: "waiting" | "pay" | "following",
  text: string,
  wakeInMs: number,
): RetryAssessment {
  const details = `\`${retry.payableId}\`: ${text}.\n\nRetries made: ${retry.row.retriesMade}.`;
  return { phase, waitingFor: text, wakeInMs, details, outcome: null };
}

function longest(retry: Pick<RetryCase, "clock">, parked: boolean): number {
  if (retry.clock.sandbox) return parked ? PARKED_SANDBOX_WAKE_MS : SANDBOX_WAKE_MS;
  return parked ? PARKED_REAL_WAKE_MS : REAL_WAKE_MS;
}

function settledReason(retry: RetryCase): string {
  const times = retry.row.retriesMade === 1 ? "one retry" : `${retry.row.retriesMade} retries`;
  return `Settled after ${times}.`;
}
