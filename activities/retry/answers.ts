import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { requestFromMs } from "../../src/domain/planning/send-date.ts";
import { nextPollMs } from "../../src/domain/payments/poll-times.ts";
import type { RetryCase } from "./retry-case.ts";

/** Longest sleeps between looks, in real time, by what is waited for. */
const SANDBOX_WAKE_MS = 1_000;
const PARKED_SANDBOX_WAKE_MS = 5_000;
const REAL_WAKE_MS = 30 * 60_000;
const PARKED_REAL_WAKE_MS = 6 * 3_600_000;

/** What the workflow does next, while the payable is not parked. */
export function assessment(
  retry: RetryCase,
  phase: "waiting" | "pay" | "following",
  text: string,
  wakeInMs: number,
): RetryAssessment {
  const details = `\`${retry.payableId}\`: ${text}.\n\nRetries made: ${retry.row.retriesMade}.`;
  return { phase, waitingFor: text, wakeInMs, details, outcome: null };
}

/** Waits until the request of a payment can be made that runs on the announced banking day. */
export function waitForDay(retry: RetryCase, retryOn: string): RetryAssessment {
  const { businessMs, scale } = retry.clock;
  const untilMs = (requestFromMs(retryOn, retry.clock) - businessMs) / scale;
  const wakeInMs = Math.min(Math.max(250, untilMs), longest(retry, false));
  const text = `runs on ${retryOn}; its request is made the banking day before`;
  return assessment(retry, "waiting", text, wakeInMs);
}

/** Waits for what the bank says of a payment that is on its way. */
export function following(retry: RetryCase, text: string): RetryAssessment {
  const { businessMs, scale } = retry.clock;
  const changes = retry.payments
    .map(({ updatedAt, createdAt }) => Date.parse(updatedAt ?? createdAt ?? ""))
    .filter((ms) => !Number.isNaN(ms));
  const pollMs = nextPollMs(businessMs, Math.max(0, ...changes), scale);
  const wakeInMs = Math.min(Math.max(250, (pollMs - businessMs) / scale), longest(retry, false));
  return assessment(retry, "following", text, wakeInMs);
}

/** Leaves the payable to a person; its run is told. */
export async function park(
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
    retryOn: null,
    handledPaymentIds,
  });
  await retry.tellRun();
  const { payableId, clock } = retry;
  return parkedFor({ payableId, clock, row: { ...retry.row, reason } });
}

export function parkedFor(retry: Pick<RetryCase, "row" | "payableId" | "clock">): RetryAssessment {
  const reason = retry.row.reason ?? "a person must act";
  return {
    phase: "parked",
    waitingFor: "a person: payrun resolve --retry, --paid-elsewhere or --give-up",
    wakeInMs: longest(retry, true),
    details: `**Parked**: ${reason}\n\nResolve \`${retry.payableId}\` with \`payrun resolve\`.`,
    outcome: null,
  };
}

/** Ends the case with what became of it, and gives the payable back. */
export async function finish(retry: RetryCase, outcome: string): Promise<RetryAssessment> {
  await retry.end(outcome);
  return ended(outcome);
}

export function ended(outcome: string): RetryAssessment {
  return { phase: "ended", waitingFor: null, wakeInMs: 0, details: `Ended: ${outcome}.`, outcome };
}

/** Gives the payable back unpaid: the next run plans it anew and asks for an approval of it. */
export async function leaveToNextRun(
  retry: RetryCase,
  code: string,
  reason: string,
): Promise<RetryAssessment> {
  await retry.setLine({ state: "parked", reasonCode: code, reason });
  return finish(retry, "left to the next run");
}

/** Real milliseconds after which to look again though nothing has been heard. */
export function longest(retry: Pick<RetryCase, "clock">, parked: boolean): number {
  if (retry.clock.sandbox) return parked ? PARKED_SANDBOX_WAKE_MS : SANDBOX_WAKE_MS;
  return parked ? PARKED_REAL_WAKE_MS : REAL_WAKE_MS;
}
