import { endedLook } from "../shared/ended-look.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import { inMarkdown, inMarkdownCode } from "../../src/domain/others-text.ts";
import type { RetryAssessment } from "../../src/contracts/activities.ts";
import { instantOf } from "../../src/domain/clock/instants.ts";
import { counted } from "../../src/domain/counted.ts";
import { requestFromMs } from "../../src/domain/planning/send-date.ts";
import { soonestSleepMs } from "../../src/domain/sleeps.ts";
import type { Incident } from "../../src/store/incidents/incidents.ts";
import type { RetryChange } from "../../src/store/retries/retries.ts";
import { FIRST_ALONE_MS, nextPollMs } from "../../src/domain/payments/poll-times.ts";
import {
  changesInMs,
  endCase,
  type RetryCase,
  setLine,
  setRow,
  notifyPeople,
} from "./retry-case.ts";

/** Returns what the workflow does next, while the payable is not parked. */
export function assessment(
  retry: RetryCase,
  phase: "waiting" | "pay" | "following",
  text: string,
  wakeInMs: number,
): RetryAssessment {
  const { about, payableId, row } = retry;
  const soFar = `sent again ${counted(row.retriesMade, "time")}`;
  const details = `**${inMarkdown(about)}** (\`${inMarkdownCode(payableId)}\`), ${soFar}: ${inMarkdown(text)}.`;
  return { phase, waitingFor: text, soFar, about, wakeInMs, details, outcome: null };
}

/** Waits until it is time to request the payment that runs on the announced banking day. */
export async function waitForDay(retry: RetryCase, retryOn: string): Promise<RetryAssessment> {
  const untilMs = retry.clock.realMsUntil(requestFromMs(retryOn, retry.clock));
  const wakeInMs = soonestSleepMs(untilMs, await changesInMs(retry));
  const text = `runs on ${retryOn}; its request is made the banking day before`;
  return assessment(retry, "waiting", text, wakeInMs);
}

/**
 * Waits for the bank's word on a payment that is on its way, whether the service shows it already
 * or not.
 */
export function following(retry: RetryCase, text: string, isShown = true): RetryAssessment {
  const { clock } = retry;
  const paidMs = clock.afterRealMs(retry.row.updatedAtMs - clock.realMs);
  const changes = retry.payments.flatMap(
    ({ updatedAt, createdAt }) => instantOf(updatedAt ?? createdAt) ?? [],
  );
  const sinceMs = isShown ? Math.max(0, ...changes) : paidMs;
  const pollMs = nextPollMs(clock, sinceMs, isShown ? FIRST_ALONE_MS : undefined);
  const wakeInMs = soonestSleepMs(clock.realMsUntil(pollMs));
  return assessment(retry, "following", text, wakeInMs);
}

/** Leaves the payable to a person. */
export async function park(
  retry: RetryCase,
  code: LineReason | null,
  reason: string,
  handledPaymentIds: readonly string[] = retry.row.handledPaymentIds,
): Promise<RetryAssessment> {
  await setLine(retry, { state: "parked", reasonCode: code, reason });
  await setRow(retry, {
    phase: "parked",
    reasonCode: code,
    reason,
    actedOn: retry.row.requestNo,
    retryOn: null,
    handledPaymentIds,
  });
  await notifyPeople(retry);
  return retryParked(retry, code);
}

/**
 * Assesses a parked payable. The reason stays with the bill (`payrun explain`): more people read
 * histories than bills.
 */
export async function retryParked(
  retry: RetryCase,
  reasonCode = retry.line.reasonCode,
): Promise<RetryAssessment> {
  const { about, payableId } = retry;
  const code = reasonCode === null ? "" : ` (${reasonCode})`;
  return {
    phase: "parked",
    waitingFor: "a person, who has it tried again, says that it was paid elsewhere, or gives it up",
    soFar: `${about} needs a person${code}`,
    about,
    wakeInMs: await changesInMs(retry),
    details: `**${inMarkdown(about)}** needs a person${code}.\n\nWhy: \`payrun explain ${inMarkdownCode(payableId)}\`. Then: \`payrun resolve ${inMarkdownCode(payableId)}\`.`,
    outcome: null,
  };
}

/** Ends the case with its outcome, and gives the payable back. */
export async function finishRetry(retry: RetryCase, outcome: string): Promise<RetryAssessment> {
  await endCase(retry, outcome);
  return endedLook(outcome);
}

/** Gives the payable back unpaid: the next run plans it anew and asks for an approval of it. */
export async function leaveToNextRun(
  retry: RetryCase,
  code: LineReason,
  reason: string,
): Promise<RetryAssessment> {
  await setLine(retry, { state: "parked", reasonCode: code, reason });
  return finishRetry(retry, "left to the next run");
}

/** Makes the payable wait for something that is announced for no day, as `text` says. */
export async function waitFor(
  retry: RetryCase,
  text: string,
  failure: string,
  change: RetryChange,
): Promise<RetryAssessment> {
  const reason = `${failure}. Waits for ${text}.`;
  const { reasonCode = null } = change;
  await setLine(retry, { state: "retrying", reasonCode, reason });
  await setRow(retry, { ...change, reason, retryOn: null });
  return assessment(retry, "waiting", `waits for ${text}`, await changesInMs(retry));
}

/**
 * A decision notifies the bills that wait for it at that time, so a bill that joins later looks
 * again at once.
 */
export function joined(waiting: RetryAssessment, { phase }: Incident): RetryAssessment {
  return phase === "ended" ? { ...waiting, wakeInMs: soonestSleepMs(0) } : waiting;
}

/** Says what a bill waits for if its account was paused. */
export function decisionAbout(sourceId: string): string {
  return `the funding account ${sourceId}: one decision for everything that bounced`;
}
