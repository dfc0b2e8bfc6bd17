import type { Attempt } from "../../src/contracts/attempt.ts";
import type { Decision } from "../../src/domain/attempts/answers.ts";
import { earlierRejection, isAnswered } from "../../src/domain/attempts/sends.ts";
import { doublingMs } from "../../src/domain/back-off.ts";
import type { MoneyWriteAnswer } from "../../src/payments-api/index.ts";
import { HTTP_TIMEOUT_MS, type ActivityContext } from "../context.ts";
import { recordSend, withResult } from "../pay/record-send.ts";
import { sendFrozen } from "../pay/send-frozen.ts";
import type { DepositJob, DepositOutcome } from "./job.ts";

/** Rests after a send without an answer, on the service's clock: they double. */
const FIRST_REST_MS = 1_000;
const REST_MAX_MS = 30_000;

/** Rests after a refusal that somebody must lift elsewhere. */
const REFUSED_REST_MS = 15_000;
const REFUSED_REST_MAX_MS = 600_000;

/**
 * Sends a frozen deposit once and records its answer, by the table of the design.
 *
 * @param before the attempt before this send was written
 */
export async function sendDeposit(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  before: Attempt,
): Promise<DepositOutcome> {
  const { business } = job.topUp;
  const clock = await context.clockOf(business).now();
  const { decision, answer } = await sendFrozen(context, business, {
    before,
    attempt,
    clock,
    leaveByMs: job.leaseUntilMs - HTTP_TIMEOUT_MS,
    tooLate: "the lease is too short",
  });
  return decision.kind === "applied"
    ? applied(context, job, attempt, answer)
    : afterAnswer(context, job, attempt, decision);
}

/** The service said yes; where its answer doesn't name the deposit, the list will. */
async function applied(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  answer: MoneyWriteAnswer,
): Promise<DepositOutcome> {
  const body = answer.kind === "http" ? answer.body : undefined;
  const id = typeof body === "object" && body !== null && "id" in body ? body.id : undefined;
  if (typeof id === "string" && id !== "") {
    const recorded = withResult(attempt, { result: "applied" });
    return { kind: "made", attempt: recorded, transactionId: id, answer: "2xx" };
  }
  return unanswered(context, job, attempt, "a yes without the deposit's id");
}

async function afterAnswer(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  decision: Exclude<Decision, { kind: "applied" }>,
): Promise<DepositOutcome> {
  const refused = (code: string, reason: string) => refusedNow(context, job, attempt, code, reason);
  switch (decision.kind) {
    case "unknown":
      if (decision.mayHaveArrived) return unanswered(context, job, attempt, decision.reason);
      await recordSend(context, attempt, { result: "not-sent", message: decision.reason });
      return rest(context, job, attempt, `It could not be sent: ${decision.reason}`);
    case "in-flight":
      await recordSend(context, attempt, { result: "conflict", status: 409 });
      if (decision.lookUp) return otherBytes(context, job, attempt);
      return rest(context, job, attempt, "The same deposit is still running at the service.");
    case "key-dead":
      return keyDead(context, job, attempt, decision.reason);
    case "rejected":
      return rejected(context, job, attempt, decision);
    case "unauthorized":
      return tokenRefused(context, attempt, 401, "The service refuses the token (401). Renew it.");
    case "forbidden": {
      const recorded = await recordSend(context, attempt, { result: "refused", status: 403 });
      // The service may have stored it, and would then never notice a new scope.
      if (isRefusedBefore(recorded, 403)) return { kind: "next-key", attempt: recorded };
      const text = `The token lacks a scope for deposits, such as balance:write (403): ${decision.message}`;
      return restLong(context, job, recorded, text);
    }
    case "rate-limited":
      await recordSend(context, attempt, { result: "refused", status: 429 });
      return {
        kind: "business-wait",
        code: "rate_limited",
        message: "The service asked to slow down (429).",
        retryAfterMs: decision.retryAfterMs,
      };
    case "business-wait":
    case "look-up":
    case "line-wait":
      return refused(decision.code, `${decision.code}: ${decision.message}`);
  }
}

/** Nothing runs that long: the key belongs to another request, of a store that was lost. */
async function otherBytes(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
): Promise<DepositOutcome> {
  const reason =
    "The service knows its key with another request, so an earlier deposit may have been made: look at the list of balance transactions, then reject this one.";
  return { ...(await restLong(context, job, attempt, reason)), code: "unclear" };
}

async function tokenRefused(
  context: ActivityContext,
  attempt: Attempt,
  status: 401,
  message: string,
): Promise<DepositOutcome> {
  const recorded = await recordSend(context, attempt, { result: "refused", status });
  if (isRefusedBefore(recorded, status)) return { kind: "next-key", attempt: recorded };
  return { kind: "business-wait", code: "unauthorized", message, retryAfterMs: null };
}

/** True where nothing of the key is open and it got the same refusal more than twice. */
function isRefusedBefore(attempt: Attempt, status: 401 | 403): boolean {
  const times = attempt.sends.filter((send) => send.status === status).length;
  return times > 2 && isAnswered(attempt);
}

/** A state refusal is not stored: the same key is tried again, ever more rarely. */
async function refusedNow(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  code: string,
  reason: string,
): Promise<DepositOutcome> {
  const recorded = await recordSend(context, attempt, { result: "refused", code });
  return restLong(context, job, recorded, `The service refuses deposits now (${reason}).`);
}

/** A final refusal, unless an earlier send was never answered: that one may have been taken. */
async function rejected(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  refusal: { readonly status: number; readonly code: string; readonly message: string },
): Promise<DepositOutcome> {
  const { status, code, message } = refusal;
  const result = { result: "rejected", status, code, message } as const;
  const recorded = await recordSend(context, attempt, result);
  const reason = `The service refused the deposit (${code}): ${message}`;
  if (isAnswered(recorded)) return { kind: "refused", attempt: recorded, reason };
  return rest(context, job, recorded, `${reason}; and an earlier send was never answered.`);
}

async function keyDead(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  reason: "unconfirmed" | "replayed-rejection",
): Promise<DepositOutcome> {
  if (reason === "replayed-rejection") {
    const send = { result: "rejected" as const, ...earlierRejection(attempt) };
    const recorded = await recordSend(context, attempt, send, { answer: reason });
    if (isAnswered(recorded)) {
      const text = "The service refused the deposit again under the same key.";
      return { kind: "refused", attempt: recorded, reason: text };
    }
    return rest(context, job, recorded, "Refused, and an earlier send was never answered.");
  }
  const { serviceMs } = await context.clockOf(job.topUp.business).now();
  const send = { result: "unconfirmed", status: 409, code: "payment_unconfirmed" } as const;
  const recorded = await recordSend(context, attempt, send, { gaveUpAtMs: serviceMs });
  return rest(context, job, recorded, "The service can't say whether it made the deposit.");
}

async function unanswered(
  context: ActivityContext,
  job: DepositJob,
  attempt: Attempt,
  reason: string,
): Promise<DepositOutcome> {
  const { serviceMs } = await context.clockOf(job.topUp.business).now();
  const change = { gaveUpAtMs: serviceMs, lastSentAtMs: serviceMs };
  await recordSend(context, attempt, { result: "unknown", message: reason }, change);
  return rest(context, job, attempt, `It was sent and had no clear answer (${reason}).`);
}

async function rest(
  context: ActivityContext,
  job: DepositJob,
  { sends }: Attempt,
  reason: string,
): Promise<DepositOutcome> {
  const { serviceMs } = await context.clockOf(job.topUp.business).now();
  const restMs = doublingMs(FIRST_REST_MS, REST_MAX_MS, sends.length - 1);
  return { kind: "rest", notBeforeMs: serviceMs + restMs, reason };
}

async function restLong(
  context: ActivityContext,
  job: DepositJob,
  { sends }: Attempt,
  reason: string,
): Promise<DepositOutcome & { readonly kind: "rest" }> {
  const { serviceMs } = await context.clockOf(job.topUp.business).now();
  const restMs = doublingMs(REFUSED_REST_MS, REFUSED_REST_MAX_MS, sends.length - 1);
  return { kind: "rest", notBeforeMs: serviceMs + restMs, reason };
}
