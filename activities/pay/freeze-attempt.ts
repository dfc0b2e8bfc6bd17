import { isAnswered } from "../../src/domain/attempts/sends.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { mayAdvanceSeq } from "../../src/domain/attempts/seq.ts";
import { asksForNewDate, earliestDate } from "../../src/domain/planning/send-date.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { redateLine } from "../replan-line.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { windowOf } from "./look-up.ts";
import { type AttemptRequest, newAttempt, revivedAttempt } from "./new-attempt.ts";
import { PAY_PATH, payBody, retryPath } from "./request-body.ts";

export type Freeze =
  | { readonly kind: "frozen"; readonly attempt: Attempt; readonly mode: "insert" | "revive" }
  | { readonly kind: "stop"; readonly outcome: PayOutcome };

/**
 * Works out the request of the next attempt at a line: its key, its bytes, and the payments that
 * were there before. Nothing is written yet.
 */
export async function freezeAttempt(
  context: ActivityContext,
  job: PayJob,
  knownPaymentIds: readonly string[],
  clock: ClockReading,
): Promise<Freeze> {
  const earlier = await attemptsOf(context.store.db, job.businessId, job.plan.payableId);
  const last = earlier.at(-1);
  if (last?.state === "live") {
    return { kind: "stop", outcome: { kind: "back", notBeforeMs: clock.serviceMs + 5_000 } };
  }
  const early = last === undefined ? undefined : nextKeyRefused(last, job, clock, knownPaymentIds);
  if (early !== undefined) return { kind: "stop", outcome: early };
  const dated = executionDateOf(job, clock);
  if (dated.late) {
    return { kind: "stop", outcome: { kind: "changed", ...redateLine(job, job.plan, dated.date) } };
  }
  if (last?.state === "released") {
    const revived = revivedAttempt(last, requestOf(job, dated.date, knownPaymentIds));
    const bytes = sameBytes(last, job) ? bytesOf(last) : {};
    return { kind: "frozen", mode: "revive", attempt: { ...revived, ...bytes } };
  }
  const attempt = attemptOf(job, dated.date, knownPaymentIds, (last?.seq ?? 0) + 1);
  return { kind: "frozen", mode: "insert", attempt };
}

/**
 * A new attempt at a line.
 *
 * @param knownPaymentIds the payments that were there before
 */
export function attemptOf(
  job: PayJob,
  executionDate: string,
  knownPaymentIds: readonly string[],
  seq: number,
): Attempt {
  return newAttempt(requestOf(job, executionDate, knownPaymentIds), seq);
}

function requestOf(
  job: PayJob,
  executionDate: string,
  knownPaymentIds: readonly string[],
): AttemptRequest {
  const { operation, plan } = job;
  return {
    businessId: job.businessId,
    subject: plan.payableId,
    operation,
    path: operation === "pay" ? PAY_PATH : retryPath(plan.payableId),
    body: operation === "pay" ? payBody(plan, executionDate) : "",
    owner: job.owner,
    lineHash: job.line.lineHash,
    contactId: plan.contactId,
    sourceId: plan.funding.sourceId,
    rail: plan.funding.rail,
    amountCents: plan.amountCents,
    executionDate,
    knownPaymentIds,
  };
}

/** True where a send without an answer may still be known to the service: it gets the same bytes. */
function sameBytes(last: Attempt, job: PayJob): boolean {
  return !isAnswered(last) && last.lineHash === job.line.lineHash;
}

function bytesOf({ operation, path, body, executionDate }: Attempt): Partial<Attempt> {
  return { operation, path, body, executionDate };
}

/** Why no new key may follow the last attempt yet; the line was verified a moment ago. */
function nextKeyRefused(
  last: Attempt,
  job: PayJob,
  clock: ClockReading,
  knownPaymentIds: readonly string[],
): PayOutcome | undefined {
  if (last.state === "released") return undefined;
  // What the last key paid doesn't show yet, so what seems to be owed may have been paid.
  if (!last.paymentIds.every((id) => knownPaymentIds.includes(id))) {
    return { kind: "back", notBeforeMs: clock.serviceMs + 60_000 };
  }
  const unconfirmed = last.sends.some((send) => send.result === "unconfirmed");
  const verdict = mayAdvanceSeq({
    lastKey:
      last.state === "applied" ? "applied" : unconfirmed ? "unconfirmed" : "replayed-rejection",
    owedCents: job.plan.amountCents,
    amountCents: job.plan.amountCents,
    approved: true,
    unknown: isAnswered(last) ? null : windowOf(last, clock),
    lookUp: last.lookedUpAtMs === null ? null : { atMs: last.lookedUpAtMs, verdict: "none" },
  });
  if (verdict.may) return undefined;
  const notBeforeMs = verdict.why === "look-up-due" ? verdict.fromMs : clock.serviceMs + 60_000;
  return { kind: "back", notBeforeMs };
}

/** The date to send, and whether using it needs a person's word first (playbook, `late: ask`). */
export function executionDateOf(
  job: PayJob,
  clock: ClockReading,
): { readonly date: string; readonly late: boolean } {
  const date = earliestDate(clock);
  const planned = job.plan.executionDate;
  if (planned >= date) return { date: planned, late: false };
  return { date, late: !job.datesMove && asksForNewDate(job, clock) };
}
