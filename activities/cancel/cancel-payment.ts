import { setTimeout as delay } from "node:timers/promises";
import type { Attempt } from "../../src/contracts/attempt.ts";
import { cancelSubject } from "../../src/contracts/names.ts";
import { isAnswered, isKeyDead } from "../../src/domain/attempts/sends.ts";
import { growingMs } from "../../src/domain/back-off.ts";
import {
  type CancelVerdict,
  judgeForCancel,
} from "../../src/domain/cancellations/judge-payment.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { recordLookUp } from "../../src/store/attempt-writes.ts";
import { attemptsOf, liveAttempt } from "../../src/store/attempts.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { ActivityContext } from "../context.ts";
import { conclusiveFromMs } from "../pay/look-up.ts";
import { endAttempt } from "../pay/record-send.ts";
import { openCancelGate } from "./cancel-gate.ts";
import { appliedOf, freezeCancel } from "./freeze-cancel.ts";
import type { CancelJob, CancelOutcome } from "./job.ts";
import { readPayment } from "./read-payment.ts";
import { sendCancel } from "./send-cancel.ts";

/** Reads and sends in one go, before the payment rests until the next. */
const ROUNDS = 4;
const ROUND_PAUSE_MS = 150;

/** Rests between looks, on the service's clock. */
const LOOK_AGAIN_MS = 2_000;
const LOOKS = { share: 0.1, firstMs: LOOK_AGAIN_MS, mostMs: 300_000 } as const;
const REFUSED_REST_MS = 15_000;

/** Real time after which a payment that was known before is not expected to be shown again. */
const SHOWN_WITHIN_MS = 15 * 60_000;

/** Real time after which a person must find out what a payment is that nothing becomes of. */
const GIVE_UP_MS = 3 * 86_400_000;
const VAIN_SENDS = 20;

/**
 * Cancels one payment, at most once, whatever happened to it before.
 *
 * Reads the payment before each send, so what an unanswered cancel came to, what somebody else
 * did and where the clock stands are known before anything leaves. Takes a new key only after the
 * last one is dead and the payment, read after its window, is still there to cancel.
 */
export async function cancelPayment(
  context: ActivityContext,
  job: CancelJob,
): Promise<CancelOutcome> {
  const { business } = job.cancellation;
  for (let round = 0; round < ROUNDS; round += 1) {
    const look = await lookAt(context, job);
    if (look === undefined) return unknownPayment(job, await context.clockOf(business).now());
    const { verdict, attempt } = look;
    if (verdict.kind !== "cancel") return withoutSend(job, look, verdict);
    if (attempt !== undefined && isInVain(attempt) && isOld(job, look.clock)) {
      return givenUp("The service says yes or nothing, and still shows it as it was", attempt);
    }
    if (attempt !== undefined && isKeyDead(attempt)) {
      const open = await buried(context, look, attempt);
      if (open !== undefined) return open;
    }
    const frozen = await freezeCancel(context, job, look.payment, look.applied);
    if (frozen.mode === "look") continue;
    if (frozen.mode === "used-up") return refused(frozen.attempt);
    const gate = await openCancelGate(context, job, frozen, look.clock);
    if (!gate.open) return gateClosed(gate.why, look, attempt);
    const sent = await sendCancel(context, job, {
      before: frozen.attempt,
      attempt: gate.attempt,
      untilMs: verdict.untilMs,
    });
    if (sent.kind !== "look") return sent;
    await delay(ROUND_PAUSE_MS);
  }
  const { serviceMs } = await context.clockOf(business).now();
  const reason = "The service refuses to cancel it and shows it as if it could; trying again.";
  return { kind: "rest", notBeforeMs: serviceMs + REFUSED_REST_MS, reason };
}

interface Look {
  readonly payment: Payment;
  readonly verdict: CancelVerdict;
  /** The attempt whose effect is open. */
  readonly attempt: Attempt | undefined;
  /** Attempts at it that had been applied before the payment was read. */
  readonly applied: number;
  readonly clock: ClockReading;
}

async function lookAt(context: ActivityContext, job: CancelJob): Promise<Look | undefined> {
  const { business, businessId } = job.cancellation;
  const client = context.clientOf(business);
  const { db } = context.store;
  const before = await context.clockOf(business).now();
  const earlier = await attemptsOf(db, businessId, cancelSubject(job.item.paymentId));
  const payment = await readPayment(client, job.item.paymentId);
  if (payment === undefined) return undefined;
  const sent = await liveAttempt(db, businessId, cancelSubject(payment.id));
  const refused = sent?.sends.some(({ code }) => code === "payment_not_cancellable") ?? false;
  const mayBeOfSeveral = payment.status === "scheduled" || (payment.status === "held" && refused);
  const severalScheduled =
    mayBeOfSeveral && payment.payableId !== null
      ? await hasSeveralScheduled(context, business, payment.payableId)
      : false;
  const clock = await context.clockOf(business).now();
  const attempt = await liveAttempt(db, businessId, cancelSubject(payment.id));
  // The earlier reading of the service's time can't end a window too soon.
  const serviceMs = Math.min(before.serviceMs, clock.serviceMs);
  const verdict = judgeForCancel(payment, { severalScheduled, refused, ...clock });
  if (attempt !== undefined) {
    const facts = {
      verdict: verdict.kind === "ended" ? verdict.state : verdict.kind,
      isConclusive: serviceMs >= conclusiveFromMs(attempt, clock),
      shown: 1,
      found: [payment],
    };
    const times = { serviceMs, nowMs: clock.realMs };
    await context.store.transactionOf(businessId, (trx) =>
      recordLookUp(trx, attempt, facts, times),
    );
  }
  const applied = appliedOf(earlier);
  return { payment, verdict, attempt, applied, clock: { ...clock, serviceMs } };
}

async function hasSeveralScheduled(
  context: ActivityContext,
  business: string,
  payableId: string,
): Promise<boolean> {
  const payments = await context.clientOf(business).payments.listAll({ payableId });
  return payments.filter(({ status }) => status === "scheduled").length > 1;
}

/** The payment has moved, or may not be cancelled now: what that means for an open attempt. */
function withoutSend(
  job: CancelJob,
  { attempt, clock, payment }: Look,
  verdict: Exclude<CancelVerdict, { readonly kind: "cancel" }>,
): CancelOutcome {
  const again = clock.serviceMs + LOOK_AGAIN_MS;
  if (verdict.kind === "later") return lookLater(job, clock, { reason: verdict.reason, attempt });
  if (verdict.kind === "returning" || ["cancelled", "refunded"].includes(verdict.state)) {
    const end = attempt === undefined ? {} : endOf(attempt, "applied", "found by look-up");
    return { ...verdict, ...end };
  }
  const mayStillApply = attempt !== undefined && !isAnswered(attempt);
  if (mayStillApply && payment.status === "scheduled") {
    const reason = `${verdict.reason} A cancel that was sent before had no answer: looking again.`;
    return { kind: "rest", notBeforeMs: again, reason };
  }
  return {
    ...verdict,
    ...(attempt === undefined ? {} : endOf(attempt, "released", verdict.state)),
  };
}

/**
 * Buries a key that will not cancel any more, once nothing of it can be in flight.
 *
 * @returns what to do instead where that is not sure yet
 */
async function buried(
  context: ActivityContext,
  { clock }: Look,
  attempt: Attempt,
): Promise<CancelOutcome | undefined> {
  const isConclusive = isAnswered(attempt) || clock.serviceMs >= conclusiveFromMs(attempt, clock);
  if (!isConclusive) {
    return {
      kind: "rest",
      notBeforeMs: clock.serviceMs + LOOK_AGAIN_MS,
      reason: "The service can't say whether it cancelled the payment: looking again.",
    };
  }
  await endAttempt(context, attempt, "dead");
  return undefined;
}

function gateClosed(
  why: "done" | "hold-lifted",
  { clock }: Look,
  attempt: Attempt | undefined,
): CancelOutcome {
  const notBeforeMs = clock.serviceMs + LOOK_AGAIN_MS;
  if (why === "done") return { kind: "rest", notBeforeMs, reason: "Somebody else has ended it." };
  if (attempt !== undefined && !isAnswered(attempt)) {
    const reason = "Its hold was lifted after a cancel was sent without an answer: looking again.";
    return { kind: "rest", notBeforeMs, reason };
  }
  return {
    kind: "ended",
    state: "released",
    reason: "Its hold was lifted before it was cancelled, so nothing more was sent.",
    ...(attempt === undefined ? {} : endOf(attempt, "released", "hold lifted")),
  };
}

function refused(last: Attempt): CancelOutcome {
  const send = last.sends.findLast(({ result }) => result === "rejected");
  const said = send?.message ?? send?.code ?? "no reason given";
  return {
    kind: "ended",
    state: "unknown",
    reason: `The service refused the cancel under several keys (${said}) and still shows the payment as if it could be cancelled. Ask the service.`,
  };
}

/** Looks again, ever more rarely, and leaves it to a person where nothing changes for days. */
function lookLater(
  job: CancelJob,
  clock: ClockReading,
  { reason, attempt }: { readonly reason: string; readonly attempt: Attempt | undefined },
): CancelOutcome {
  if (isOld(job, clock)) return givenUp(reason, attempt);
  const notBeforeMs = clock.serviceMs + growingMs(ageMs(job, clock), LOOKS);
  return { kind: "rest", notBeforeMs, reason: `${reason}; looking again.` };
}

function ageMs({ cancellation }: CancelJob, { realMs }: ClockReading): number {
  return realMs - cancellation.requestedAtMs;
}

function isOld(job: CancelJob, clock: ClockReading): boolean {
  return ageMs(job, clock) >= GIVE_UP_MS;
}

/** True after many sends that left open what they did. */
function isInVain({ sends }: Attempt): boolean {
  return sends.filter(({ result }) => result === "unknown").length >= VAIN_SENDS;
}

function givenUp(reason: string, attempt: Attempt | undefined): CancelOutcome {
  return {
    kind: "ended",
    state: "unknown",
    reason: `${reason}, for days. Ask the service.`,
    ...(attempt === undefined ? {} : endOf(attempt, "released", "given up")),
  };
}

function unknownPayment(job: CancelJob, clock: ClockReading): CancelOutcome {
  // One that is known by its bill is there; a service may show it by its id only a moment later.
  if (job.item.payableId !== null && ageMs(job, clock) < SHOWN_WITHIN_MS) {
    const reason = "The service doesn't show this payment now";
    return lookLater(job, clock, { reason, attempt: undefined });
  }
  const reason = "The service doesn't know this payment, or it is not this business's.";
  return { kind: "ended", state: "unknown", reason };
}

function endOf(attempt: Attempt, state: "applied" | "released", answer: string) {
  return { end: { attempt, state, answer } };
}
