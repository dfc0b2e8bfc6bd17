import { earlierRejection, isAnswered } from "../../src/domain/attempts/sends.ts";
import type { Attempt } from "../../src/contracts/attempt.ts";
import type { ActivityContext } from "../context.ts";
import type { PayJob, PayOutcome } from "./job.ts";
import { adopt, lookUp } from "./look-up.ts";
import { endAttempt, recordSend } from "./record-send.ts";

/** How long a line with an unknown effect rests between draws. */
const UNKNOWN_REST_MS = 15_000;

/** What a send came to; `next-key` where its key is dead and nothing of it is in flight. */
export type Sent = PayOutcome | { readonly kind: "next-key" };

/** The line rests as unknown; whoever draws it next looks first. */
export async function rest(
  context: ActivityContext,
  job: PayJob,
  reason: string,
): Promise<PayOutcome> {
  const { serviceMs } = await context.clockOf(job.business).now();
  return { kind: "unknown", notBeforeMs: serviceMs + UNKNOWN_REST_MS, reason };
}

/**
 * True where an earlier draw got the same refusal under this key. The service may have stored it
 * (API specification, section 7), and would then never notice a new token or scope.
 */
export function refusedBefore(job: PayJob, attempt: Attempt, status: 401 | 403): boolean {
  const drawn = job.attempt?.attemptId === attempt.attemptId ? job.attempt : undefined;
  return drawn?.sends.some((send) => send.status === status) === true && isAnswered(attempt);
}

/** Gives up a key that will not pay and of which nothing is in flight: the next one is due. */
export async function nextKey(context: ActivityContext, attempt: Attempt): Promise<Sent> {
  await endAttempt(context, attempt, "dead");
  return { kind: "next-key" };
}

/** What follows a key that will not pay any more. */
export async function keyDead(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
  reason: "unconfirmed" | "replayed-rejection",
): Promise<Sent> {
  if (reason === "replayed-rejection") {
    const send = { result: "rejected" as const, ...earlierRejection(attempt) };
    const replayed = await recordSend(context, attempt, send, { answer: reason });
    if (isAnswered(replayed)) return nextKey(context, replayed);
    // An earlier send has no answer and may still be in flight: looked up when that is over.
    return rest(context, job, "refused, and an earlier send was never answered");
  }
  const recorded = await recordUnconfirmed(context, job, attempt);
  const look = await lookUp(context, job.business, recorded);
  if (look.verdict.kind === "adopt") return adopt(recorded, look.adopted);
  return {
    kind: "unknown",
    notBeforeMs: look.windowEndsMs,
    reason: "the service can't say whether it paid: looking again when its window is over",
  };
}

async function recordUnconfirmed(
  context: ActivityContext,
  job: PayJob,
  attempt: Attempt,
): Promise<Attempt> {
  const { serviceMs } = await context.clockOf(job.business).now();
  return recordSend(
    context,
    attempt,
    { result: "unconfirmed", status: 409, code: "payment_unconfirmed" },
    { gaveUpAtMs: serviceMs },
  );
}
