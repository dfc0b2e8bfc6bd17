import { setTimeout as delay } from "node:timers/promises";
import { isAnswered, isClean } from "../../src/domain/attempts/sends.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import type { Decision } from "../../src/domain/attempts/answers.ts";
import { doublingMs } from "../../src/domain/back-off.ts";
import type { MoneyWriteAnswer } from "../../src/payments-api/index.ts";
import type { SendMode } from "../../src/store/attempt-writes.ts";
import { createdPaymentsSchema } from "../../src/payments-api/schemas/payment.ts";
import { HTTP_TIMEOUT_MS, type ActivityContext } from "../context.ts";
import { keyDead, nextKey, refusedBefore, rest, type Sent } from "./dead-key.ts";
import type { OpenedSend, PayJob, PayOutcome } from "./job.ts";
import { adopt, lookUp } from "./look-up.ts";
import { endAttempt, recordSend, withResult } from "./record-send.ts";
import { sendFrozen } from "./send-frozen.ts";
import { openGate } from "./send-gate.ts";

/** Our reading of the business clock may be this old: the next key's date must not repeat it. */
const CLOCK_MAY_LAG_MS = 1_100;

/** Waits between sends of one draw; later ones belong to a later draw, which looks first. */
const RESEND_AFTER_MS = [500, 2_000];

const OPEN_BEFORE = "and an earlier send was never answered";

const IN_PROGRESS_REST_MAX_MS = 600_000;

/**
 * Sends the frozen request, and sends the same bytes under the same key again while the answer
 * leaves its effect open, a few times; then the line rests as unknown.
 *
 * @param opened the first send, where it is written already
 */
export async function sendAttempt(
  context: ActivityContext,
  job: PayJob,
  frozen: Attempt,
  firstMode: SendMode,
  opened?: OpenedSend,
): Promise<Sent> {
  let attempt = frozen;
  let mode = firstMode;
  const tokenTries = { left: 1 };
  for (let sends = 0; ; sends += 1) {
    const before = attempt;
    const clock = await context.clockOf(job.business).now();
    const gate =
      sends === 0 && opened !== undefined
        ? { open: true as const, ...opened }
        : await openGate(context, job, attempt, mode, clock);
    if (!gate.open) {
      const fresh = mode !== "resend" || isClean(before);
      const notBeforeMs = clock.serviceMs + 1_000;
      return fresh
        ? { kind: "back", notBeforeMs }
        : { kind: "unknown", notBeforeMs, reason: gate.reason };
    }
    attempt = gate.attempt;
    mode = "resend";
    const { decision, answer } = await sendFrozen(context, job.business, {
      before,
      attempt,
      clock,
      leaveByMs: gate.leaseUntilMs - HTTP_TIMEOUT_MS,
      tooLate: "the lease is too short",
    });
    const next =
      decision.kind === "applied"
        ? await applied(context, job, attempt, answer)
        : await afterAnswer(context, job, attempt, decision, tokenTries);
    if (next.kind !== "send-again") return next;
    attempt = next.attempt;
    const pauseMs = next.pauseMs ?? RESEND_AFTER_MS[sends];
    if (pauseMs === undefined) return rest(context, job, next.reason);
    await delay(pauseMs);
  }
}

interface SendAgain {
  readonly kind: "send-again";
  readonly attempt: Attempt;
  readonly reason: string;
  /** Undefined: the usual back-off. */
  readonly pauseMs?: number;
}

/** Records what an answer means, by the design's table, and says what follows. */
async function afterAnswer(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  decision: Exclude<Decision, { kind: "applied" }>,
  tokenTries: { left: number },
): Promise<Sent | SendAgain> {
  switch (decision.kind) {
    case "unknown": {
      const result = decision.mayHaveArrived ? "unknown" : "not-sent";
      const recorded = await recordUnknown(context, job, attempt, result, decision.reason);
      return { kind: "send-again", attempt: recorded, reason: decision.reason };
    }
    case "in-flight": {
      const recorded = await recordSend(context, attempt, { result: "conflict", status: 409 });
      if (!decision.lookUp) {
        return {
          kind: "send-again",
          attempt: recorded,
          reason: "the same request is still running",
        };
      }
      return rest(context, job, "still running past its window");
    }
    case "key-dead":
      return keyDead(context, job, attempt, decision.reason);
    case "look-up":
      return inProgress(context, job, attempt, decision.code);
    case "rejected": {
      const { status, code, message, field } = decision;
      const recorded = await recordSend(context, attempt, {
        result: "rejected",
        status,
        code,
        message,
      });
      return rejected(context, job, recorded, { code, message, field });
    }
    case "unauthorized":
      return unauthorized(context, job, attempt, tokenTries);
    case "forbidden": {
      const recorded = await recordSend(context, attempt, { result: "refused", status: 403 });
      if (refusedBefore(job, recorded, 403)) return nextKey(context, recorded);
      return businessWait(
        "forbidden",
        `The token lacks the scope payments:initiate (403): ${decision.message}`,
      );
    }
    case "rate-limited":
      await recordSend(context, attempt, { result: "refused", status: 429 });
      return {
        ...businessWait("rate_limited", "The service asked to slow down (429)."),
        retryAfterMs: decision.retryAfterMs,
      };
    case "business-wait":
      await recordSend(context, attempt, { result: "refused", code: decision.code });
      return { ...businessWait(decision.code, decision.message), scope: decision.scope };
    case "line-wait": {
      const { code, message } = decision;
      const recorded = await recordSend(context, attempt, { result: "refused", code });
      if (!isAnswered(recorded)) return rest(context, job, `${code}, ${OPEN_BEFORE}`);
      return { kind: "line-wait", code, message };
    }
  }
}

async function unauthorized(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  tokenTries: { left: number },
): Promise<Sent | SendAgain> {
  const recorded = await recordSend(context, attempt, { result: "refused", status: 401 });
  // The client dropped its token; one more send fetches a new one.
  tokenTries.left -= 1;
  if (tokenTries.left >= 0) {
    return { kind: "send-again", attempt: recorded, reason: "token refused", pauseMs: 0 };
  }
  if (refusedBefore(job, recorded, 401)) return nextKey(context, recorded);
  return businessWait("unauthorized", "The service refuses the token (401). Renew it.");
}

async function recordUnknown(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  result: "unknown" | "not-sent",
  reason: string,
): Promise<Attempt> {
  const { serviceMs } = await context.clockOf(job.business).now();
  // Counted from when we gave up, not from when we sent: the request may have left in between.
  const change = result === "unknown" ? { gaveUpAtMs: serviceMs, lastSentAtMs: serviceMs } : {};
  return recordSend(context, attempt, { result, message: reason }, change);
}

async function applied(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  answer: MoneyWriteAnswer,
): Promise<PayOutcome> {
  const body = answer.kind === "http" ? createdPaymentsSchema.safeParse(answer.body) : undefined;
  if (attempt.operation === "pay" && body?.success === true) {
    // A service may answer with all payments of the bill; a replay only has those that were known.
    const made = body.data.payments.filter(({ id }) => !attempt.knownPaymentIds.includes(id));
    const payments = made.length > 0 ? made : body.data.payments;
    const recorded = withResult(attempt, { result: "applied" });
    return { kind: "applied", attempt: recorded, payments, found: false };
  }
  // retry-payment's answer has no documented shape, so what it made is looked up.
  const recorded = await recordSend(context, attempt, { result: "unknown", message: "2xx" });
  const look = await lookUp(context, job.business, recorded);
  if (look.verdict.kind === "adopt") return adopt(recorded, look.adopted);
  return rest(context, job, "the service said yes and does not show the payment yet");
}

/** Something is on its way for the payable: ours from an earlier send, or somebody else's. */
async function inProgress(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  code: string,
): Promise<PayOutcome> {
  const recorded = await recordSend(context, attempt, { result: "refused", code });
  const look = await lookUp(context, job.business, recorded);
  if (look.verdict.kind === "adopt" && !isClean(recorded)) {
    return adopt(recorded, look.adopted);
  }
  if (isClean(recorded)) {
    await endAttempt(context, recorded, "released", { answer: code });
    const { serviceMs } = await context.clockOf(job.business).now();
    // The next draw reads everything again and sees what is on its way.
    const times = recorded.sends.filter((send) => send.code === code).length;
    const restMs = doublingMs(1_000, IN_PROGRESS_REST_MAX_MS, times);
    return { kind: "back", notBeforeMs: serviceMs + restMs };
  }
  return { kind: "unknown", notBeforeMs: look.windowEndsMs, reason: code };
}

async function rejected(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  error: { readonly code: string; readonly message: string; readonly field: string | null },
): Promise<PayOutcome | SendAgain> {
  const datePassed =
    error.code === "validation_error" &&
    (error.field === "scheduledAt" || error.message.includes("scheduledAt"));
  // The date has passed since it was frozen: once the refusal is replayed, the key is dead and the
  // next one carries a new date; and what retry-payment refuses, an ordinary payment may do. Other
  // rejections wait for a person to lift their cause.
  if (datePassed || attempt.operation === "retry-payment") {
    const pauseMs = datePassed ? CLOCK_MAY_LAG_MS : 0;
    return { kind: "send-again", attempt, reason: error.message, pauseMs };
  }
  // An earlier send without an answer may have paid, which only a look-up tells. Where nothing of it
  // is open: whoever pays the bill next, also another run, goes on under this key.
  if (!isAnswered(attempt)) return rest(context, job, `${error.code}, ${OPEN_BEFORE}`);
  await endAttempt(context, attempt, "released", { answer: error.code });
  const where = error.field === null ? "" : ` (${error.field})`;
  return {
    kind: "parked",
    code: error.code,
    reason: `The service refused the payment${where}: ${error.message}. Correct that, then resolve --retry.`,
  };
}

function businessWait(
  code: string,
  message: string,
): PayOutcome & { readonly kind: "business-wait" } {
  return { kind: "business-wait", code, scope: "business", message, retryAfterMs: null };
}
