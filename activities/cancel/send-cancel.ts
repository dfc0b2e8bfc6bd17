import type { Attempt } from "../../src/contracts/attempt.ts";
import type { Decision } from "../../src/domain/attempts/answers.ts";
import { earlierRejection, isAnswered } from "../../src/domain/attempts/sends.ts";
import { doublingMs } from "../../src/domain/back-off.ts";
import { cancelledPaymentSchema } from "../../src/payments-api/index.ts";
import type { MoneyWriteAnswer } from "../../src/payments-api/index.ts";
import { HTTP_TIMEOUT_MS, LEASE_MS, type ActivityContext } from "../context.ts";
import { endAttempt, recordSend, withResult } from "../pay/record-send.ts";
import { sendFrozen } from "../pay/send-frozen.ts";
import type { CancelJob, CancelOutcome } from "./job.ts";

/** Rests after a send without an answer, on the service's clock: they double. */
const FIRST_REST_MS = 1_000;
const REST_MAX_MS = 30_000;

const MESSAGE_MAX = 300;

/** Refusals by what the payment is, or what is being done to it, also with codes of a service's own. */
const OF_THE_MOMENT: readonly number[] = [409, 423, 425];
const PASSING_REST_MS = 15_000;
const PASSING_REST_MAX_MS = 240_000;

interface Send {
  /** The attempt before this send was written. */
  readonly before: Attempt;
  readonly attempt: Attempt;
  /** Business-clock instant up to which the request may leave; null is without end. */
  readonly untilMs: number | null;
}

/** What a send came to; `look` where only reading the payment tells what follows. */
export type SentCancel = CancelOutcome | { readonly kind: "look" };

/** Sends a frozen cancel once and records its answer, by the table of the design. */
export async function sendCancel(
  context: ActivityContext,
  job: CancelJob,
  send: Send,
): Promise<SentCancel> {
  const { business } = job.cancellation;
  const { before, attempt } = send;
  const clock = await context.clockOf(business).now();
  const { decision, answer } = await sendFrozen(context, business, {
    before,
    attempt,
    clock,
    leaveByMs: leaveBy(send, clock),
    tooLate: "too late to send a cancel",
  });
  return decision.kind === "applied"
    ? applied(context, job, attempt, answer)
    : afterAnswer(context, job, attempt, decision);
}

function leaveBy(
  { untilMs }: Send,
  clock: { readonly businessMs: number; readonly scale: number },
): number {
  const nowMs = Date.now();
  const freshUntilMs = nowMs + LEASE_MS - HTTP_TIMEOUT_MS;
  if (untilMs === null || clock.scale <= 0) return freshUntilMs;
  return Math.min(freshUntilMs, nowMs + (untilMs - clock.businessMs) / clock.scale);
}

/** The service says that it cancelled, with the payment as it is now and where the money went. */
async function applied(
  context: ActivityContext,
  job: CancelJob,
  attempt: Attempt,
  answer: MoneyWriteAnswer,
): Promise<SentCancel> {
  const body = answer.kind === "http" ? cancelledPaymentSchema.safeParse(answer.body).data : null;
  const status = body?.payment.id === job.item.paymentId ? body.payment.status : undefined;
  const said = (body?.message ?? "").slice(0, MESSAGE_MAX);
  const recorded = withResult(attempt, { result: "applied" });
  const end = { attempt: recorded, state: "applied", answer: "2xx" } as const;
  if (status === "cancelled") {
    return { kind: "ended", state: "cancelled", reason: said || "Cancelled. No money moved.", end };
  }
  if (status === "refunded") {
    return { kind: "ended", state: "refunded", reason: said || "The money is back.", end };
  }
  if (status === "refund_pending") {
    return { kind: "returning", reason: said || "The money is on its way back.", end };
  }
  return unanswered(context, job, attempt, `2xx, and the payment is ${status ?? "another one"}`);
}

async function afterAnswer(
  context: ActivityContext,
  job: CancelJob,
  attempt: Attempt,
  decision: Exclude<Decision, { kind: "applied" }>,
): Promise<SentCancel> {
  switch (decision.kind) {
    case "unknown":
      if (decision.mayHaveArrived) return unanswered(context, job, attempt, decision.reason);
      await recordSend(context, attempt, { result: "not-sent", message: decision.reason });
      return { kind: "look" };
    case "in-flight":
      await recordSend(context, attempt, { result: "conflict", status: 409 });
      if (decision.lookUp) {
        // Nothing runs that long: the key belongs to other bytes, of a store that was lost.
        await endAttempt(context, attempt, "dead");
        return { kind: "look" };
      }
      return rest(context, job, attempt, "The same cancel is still running at the service.");
    case "key-dead":
      return keyDead(context, job, attempt, decision.reason);
    case "rejected":
      return rejected(context, job, attempt, decision);
    case "look-up":
    case "line-wait":
      await recordSend(context, attempt, { result: "refused", code: decision.code });
      return rest(context, job, attempt, `The service says ${decision.code}.`);
    case "unauthorized":
      await recordSend(context, attempt, { result: "refused", status: 401 });
      return wait("unauthorized", "The service refuses the token (401). Renew it.");
    case "forbidden":
      await recordSend(context, attempt, { result: "refused", status: 403 });
      return wait("forbidden", "The token lacks the scope payments:initiate (403).");
    case "rate-limited": {
      await recordSend(context, attempt, { result: "refused", status: 429 });
      const { retryAfterMs } = decision;
      return { ...wait("rate_limited", "The service asked to slow down (429)."), retryAfterMs };
    }
    case "business-wait":
      await recordSend(context, attempt, { result: "refused", code: decision.code });
      return wait(decision.code, decision.message);
  }
}

/** A final refusal; where it says that the payment has changed, reading it tells what to. */
async function rejected(
  context: ActivityContext,
  job: CancelJob,
  attempt: Attempt,
  refusal: { readonly status: number; readonly code: string; readonly message: string },
): Promise<SentCancel> {
  const { status, code, message } = refusal;
  const result = { result: "rejected", status, code, message } as const;
  const recorded = await recordSend(context, attempt, result);
  if (code === "payment_not_cancellable" || code === "not_found") return { kind: "look" };
  if (OF_THE_MOMENT.includes(status)) {
    const { serviceMs } = await context.clockOf(job.cancellation.business).now();
    // A key that gets the same answer again is dead: there are few, so they are given time.
    const restMs = doublingMs(PASSING_REST_MS, PASSING_REST_MAX_MS, attempt.seq - 1);
    const reason = `The service refuses it for now (${code}): ${message}`;
    return { kind: "rest", notBeforeMs: serviceMs + restMs, reason };
  }
  if (!isAnswered(recorded)) return { kind: "look" };
  return {
    kind: "ended",
    state: "unknown",
    reason: `The service refused the cancel (${code}): ${message}`,
    end: { attempt: recorded, state: "released", answer: code },
  };
}

async function keyDead(
  context: ActivityContext,
  job: CancelJob,
  attempt: Attempt,
  reason: "unconfirmed" | "replayed-rejection",
): Promise<SentCancel> {
  if (reason === "replayed-rejection") {
    const send = { result: "rejected" as const, ...earlierRejection(attempt) };
    const recorded = await recordSend(context, attempt, send, { answer: reason });
    if (isAnswered(recorded)) await endAttempt(context, recorded, "dead");
    return { kind: "look" };
  }
  const { serviceMs } = await context.clockOf(job.cancellation.business).now();
  const send = { result: "unconfirmed", status: 409, code: "payment_unconfirmed" } as const;
  await recordSend(context, attempt, send, { gaveUpAtMs: serviceMs });
  return { kind: "look" };
}

async function unanswered(
  context: ActivityContext,
  job: CancelJob,
  attempt: Attempt,
  reason: string,
): Promise<SentCancel> {
  const { serviceMs } = await context.clockOf(job.cancellation.business).now();
  const change = { gaveUpAtMs: serviceMs, lastSentAtMs: serviceMs };
  await recordSend(context, attempt, { result: "unknown", message: reason }, change);
  return rest(context, job, attempt, `A cancel was sent and had no clear answer (${reason}).`);
}

async function rest(
  context: ActivityContext,
  job: CancelJob,
  { sends }: Attempt,
  reason: string,
): Promise<CancelOutcome> {
  const { serviceMs } = await context.clockOf(job.cancellation.business).now();
  const restMs = doublingMs(FIRST_REST_MS, REST_MAX_MS, sends.length - 1);
  return { kind: "rest", notBeforeMs: serviceMs + restMs, reason };
}

function wait(code: string, message: string): CancelOutcome & { readonly kind: "business-wait" } {
  return { kind: "business-wait", code, message, retryAfterMs: null };
}
