import { isAnswered, isKeyDead } from "../../src/domain/attempts/sends.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { attemptsOf } from "../../src/store/attempts.ts";
import type { SendMode } from "../../src/store/attempt-writes.ts";
import type { ActivityContext } from "../context.ts";
import { adoptRestored } from "./adopt-restored.ts";
import { executionDateOf, freezeAttempt } from "./freeze-attempt.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { adopt, lookUp } from "./look-up.ts";
import { endAttempt } from "./record-send.ts";
import { payBody } from "./request-body.ts";
import { sendAttempt } from "./send-attempt.ts";
import { verifyLine } from "./verify-line.ts";

/** A key that dies is followed by the next one at most this often before the line waits. */
const KEYS_AT_ONCE = 3;

/** After so many dead keys in a row a person must look. */
const DEAD_KEYS_MAX = 6;

/**
 * Pays one leased line, at most once, whatever happened to it before (design, "Paying once").
 *
 * Writes before it sends, looks before it sends again, and takes a new key only after the last one
 * has its final answer. Never throws for what the service answers: that is the outcome.
 */
export async function payLine(context: ActivityContext, drawn: PayJob): Promise<PayOutcome> {
  let job = drawn;
  let attempt = job.attempt;
  for (let keys = 0; keys < KEYS_AT_ONCE; keys += 1) {
    const step = await nextStep(context, job, attempt);
    if (step.kind === "stop") return step.outcome;
    if (step.kind !== "next-key") {
      const sent = await sendAttempt(context, job, step.attempt, step.mode, job.opened);
      if (sent.kind !== "next-key") return sent;
    }
    attempt = undefined;
    const { opened: _, ...rest } = job;
    // Not every service has retry-payment: after a dead key an ordinary payment does as well.
    job = { ...rest, attempt, operation: "pay" };
  }
  return afterDeadKeys(context, job);
}

/** Several keys died one after the other: rests, and goes to a person where that goes on. */
async function afterDeadKeys(context: ActivityContext, job: PayJob): Promise<PayOutcome> {
  const made = await attemptsOf(context.store.db, job.businessId, job.plan.payableId);
  const dead = made.length - 1 - made.findLastIndex(({ state }) => state !== "dead");
  if (dead < DEAD_KEYS_MAX) {
    const { serviceMs } = await context.clockOf(job.business).now();
    return { kind: "back", notBeforeMs: serviceMs + 30_000 };
  }
  const last = made.at(-1)?.sends.find(({ result }) => result === "rejected");
  const said = last?.message ?? last?.code ?? "no reason given";
  return {
    kind: "parked",
    code: last?.code ?? "refused",
    reason: `The service refused the payment under ${dead} keys: ${said}. Correct that, then resolve --retry.`,
  };
}

type Step =
  | { readonly kind: "send"; readonly attempt: Attempt; readonly mode: SendMode }
  | { readonly kind: "next-key" }
  | { readonly kind: "stop"; readonly outcome: PayOutcome };

function nextStep(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt | undefined,
): Promise<Step> {
  if (job.opened !== undefined) {
    return Promise.resolve({ kind: "send", attempt: job.opened.frozen, mode: "insert" });
  }
  return attempt === undefined ? startAttempt(context, job) : resumeAttempt(context, job, attempt);
}

async function startAttempt(context: ActivityContext, job: PayJob): Promise<Step> {
  if (!job.maySend) return stop({ kind: "back", notBeforeMs: 0 });
  const verified = await verifyLine(context, job);
  if (verified.kind === "stop") {
    const isPaid = verified.outcome.kind === "paid-elsewhere";
    const ours = isPaid ? await adoptRestored(context, job) : undefined;
    return ours === undefined ? verified : stop(ours);
  }
  const clock = await context.clockOf(job.business).now();
  const freeze = await freezeAttempt(context, job, verified.knownPaymentIds, clock);
  if (freeze.kind === "stop") return freeze;
  return { kind: "send", attempt: freeze.attempt, mode: freeze.mode };
}

/** Goes on with an attempt that an earlier draw, perhaps of a process that died, left behind. */
async function resumeAttempt(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
): Promise<Step> {
  return isAnswered(attempt)
    ? resumeAnswered(context, job, attempt)
    : resumeUnknown(context, job, attempt);
}

/** Every send was answered by a refusal: nothing is in flight, so what is sent may be corrected. */
async function resumeAnswered(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
): Promise<Step> {
  if (!job.maySend) {
    await endAttempt(context, attempt, "released");
    return stop({ kind: "back", notBeforeMs: 0 });
  }
  // Whatever else was refused may have changed something; a pause of seconds has not.
  const isSlowed = attempt.sends.at(-1)?.status === 429;
  const line = isSlowed ? job.line : { ...job.line, verifiedAtMs: 0 };
  const verified = await verifyLine(context, { ...job, line });
  if (verified.kind === "stop") {
    if (verified.outcome.kind !== "line-wait") await endAttempt(context, attempt, "released");
    return verified;
  }
  if (attempt.operation === "retry-payment") {
    return { kind: "send", attempt, mode: "resend" };
  }
  const clock = await context.clockOf(job.business).now();
  const dated = executionDateOf(job, clock);
  if (dated.late) {
    await endAttempt(context, attempt, "released");
    return stop({ kind: "back", notBeforeMs: 0 });
  }
  const corrected: Attempt = {
    ...attempt,
    body: payBody(job.plan, dated.date),
    executionDate: dated.date,
    knownPaymentIds: verified.knownPaymentIds,
  };
  return { kind: "send", attempt: corrected, mode: "resend" };
}

/** Some send has no answer that settles it: look first, then the same bytes under the same key. */
async function resumeUnknown(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
): Promise<Step> {
  const look = await lookUp(context, job.business, attempt);
  if (look.verdict.kind === "adopt") return stop(adopt(attempt, look.adopted));
  if (look.verdict.kind === "partial") {
    return stop(
      look.afterWindow
        ? {
            kind: "parked",
            code: "partial-payment-found",
            reason:
              "Payments for this bill appeared that don't add up to what was sent. Compare them with the bank, then say resolve --paid-elsewhere or --give-up.",
          }
        : { kind: "unknown", notBeforeMs: look.windowEndsMs, reason: "a part of it is visible" },
    );
  }
  const dead = isKeyDead(attempt);
  if (look.afterWindow && dead) {
    await endAttempt(context, attempt, "dead");
    return { kind: "next-key" };
  }
  if (look.afterWindow && !job.maySend) {
    // Its key had no final answer: whoever may pay the bill later does so under the same one.
    await endAttempt(context, attempt, "released");
    return stop({ kind: "back", notBeforeMs: 0 });
  }
  if (dead || !job.maySend) {
    return stop({ kind: "unknown", notBeforeMs: look.windowEndsMs, reason: "waiting to look" });
  }
  const conflicts = attempt.sends.filter((send) => send.result === "conflict").length;
  if (look.afterWindow && conflicts > 1) {
    return stop({
      kind: "parked",
      code: "idempotency-conflict",
      reason:
        "The service still says that this request is running, and shows no payment. Ask the service about the idempotency key shown by explain, then resolve it.",
    });
  }
  return { kind: "send", attempt, mode: "resend" };
}

function stop(outcome: PayOutcome): Step {
  return { kind: "stop", outcome };
}
