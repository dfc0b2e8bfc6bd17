import { DAY_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { doublingMs, growingMs } from "../../src/domain/back-off.ts";
import type { CancelVerdict } from "../../src/domain/cancellations/judge-payment.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import type { KeyedAttempt, Reading, Send } from "../../src/ledger/facts.ts";
import type { Closed, GateAnswer, GateStep } from "../../src/ledger/gate.ts";
import { lastSend, leftAgoMs, saidNo } from "../../src/ledger/last-send.ts";
import { refusedFor } from "./cancel-answers.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { backOff } from "../shared/back-off.ts";
import { waitingText } from "../shared/waiting-text.ts";
import { type CancelOutcome, ended, type PaymentJob, unknown } from "./job.ts";

/** Time between lookups, on the service's clock. */
const LOOK_AGAIN_MS = 2_000;
const LOOKUPS = { share: 0.1, firstMs: LOOK_AGAIN_MS, mostMs: 300_000 } as const;

/**
 * After a final answer, the pause before the next key grows each time, because there are few keys.
 */
const NEXT_KEY_WAIT_MS = 15_000;
const NEXT_KEY_WAIT_MAX_MS = 240_000;

/**
 * Real time after which a payment that was known before is no longer expected to be shown again.
 */
const SHOWN_WITHIN_MS = 15 * 60_000;

/** Real time after which a person must find out about a payment whose cancel has led to nothing. */
const LEFT_TO_PERSON_AFTER_MS = 3 * DAY_MS;
const VAIN_SENDS = 20;

/** What the ledger has of a payment's cancels, for deciding whether to ask for another one now. */
export interface CancelSends {
  /** Milliseconds until another key is asked for; 0 or less if no hold applies to it. */
  readonly pauseMs: number;
  /** The last refusal. */
  readonly refused: Send | null;
  /** The last answer, if asking again would get the same no. */
  readonly no: Send | null;
  /** True after many sends whose effect is unknown, or after a yes that changed nothing. */
  readonly isInVain: boolean;
}

/** What a payment is now, and what was sent to cancel it. */
export interface Judged {
  readonly payment: Payment;
  readonly reading: Reading;
  readonly verdict: CancelVerdict;
  readonly sends: CancelSends;
  readonly clock: ClockReading;
}

export function cancelSends(
  attempts: readonly KeyedAttempt[],
  reading: Reading,
  owner: string,
): CancelSends {
  const sends = attempts.flatMap((attempt) => attempt.sends);
  const last = lastSend(attempts);
  const isFinal = last?.result === "rejected" || last?.result === "applied";
  const tries = attempts.length - 1;
  const waitMs = isFinal ? doublingMs(NEXT_KEY_WAIT_MS, NEXT_KEY_WAIT_MAX_MS, tries) : 0;
  return {
    pauseMs: last === undefined ? 0 : waitMs - leftAgoMs(last, reading),
    refused: sends.findLast(({ result }) => result === "rejected") ?? null,
    no: saidNo(attempts, owner) ?? null,
    isInVain:
      sends.some(({ result }) => result === "applied") ||
      sends.filter(({ result }) => result === "unknown").length >= VAIN_SENDS,
  };
}

/** Judges a payment whose cancel the gate hasn't let through, or that needs none. */
export function withoutSend(
  job: PaymentJob,
  judged: Judged,
  answer: Exclude<GateAnswer, { readonly kind: "open" }>,
): CancelOutcome {
  const { verdict, payment, clock, sends } = judged;
  const { step } = answer;
  const mayStillApply = step.kind === "wait" || step.kind === "read";
  switch (verdict.kind) {
    case "returning":
      return verdict;
    case "ended": {
      if (!mayStillApply || payment.status !== "scheduled") return verdict;
      const reason = `${verdict.reason} A cancel that was sent before had no answer: looking again.`;
      return backOff(LOOK_AGAIN_MS, reason);
    }
    case "later":
      return lookUpLater(job, clock, verdict.reason);
    case "cancel":
  }
  if (sends.isInVain && isOld(job, clock)) {
    return leftToPerson("The service says yes or nothing, and still shows it as it was");
  }
  if (answer.kind === "closed") return gateClosed(answer.closed, mayStillApply);
  return notCancelledYet(job, judged, step);
}

function gateClosed({ code, reason: why }: Closed, mayStillApply: boolean): CancelOutcome {
  if (code === "not_as_approved" || code === "trail_differs")
    return unknown(`${why}. Nothing was sent.`);
  if (code === "done") return backOff(LOOK_AGAIN_MS, "Someone else has ended it.");
  if (mayStillApply) {
    const reason = "Its hold was lifted after a cancel was sent without an answer: looking again.";
    return backOff(LOOK_AGAIN_MS, reason);
  }
  return ended(
    "released",
    "Its hold was lifted before it was cancelled, so nothing more was sent.",
  );
}

/** Judges a payment that the service shows unchanged and for which nothing is sent now. */
function notCancelledYet(job: PaymentJob, judged: Judged, step: GateStep): CancelOutcome {
  const { sends, clock } = judged;
  const { no, refused } = sends;
  const mostMs = growingMs(ageMs(job, clock), LOOKUPS);
  switch (step.kind) {
    case "person":
      return personMustLook(step.code, step.reason, refused);
    case "wait": {
      const reason = no === null ? waitingText(step, clock) : `${saidOf(no)} ${MAKING_SURE}`;
      return backOff(Math.min(step.waitMs, mostMs), reason);
    }
    case "read":
      return backOff(Math.min(LOOK_AGAIN_MS, mostMs), step.reason);
    case "adopt":
    case "applied":
      return backOff(
        mostMs,
        "The service says that it is cancelled, and shows it as it was; looking again.",
      );
    case "idle": {
      if (no !== null) return refusedFor(no.code ?? "", no.message ?? "");
      const said = refused === null ? "." : ` (${refused.code}).${serviceSays(refused.message)}`;
      return backOff(sends.pauseMs, `The service refuses it for now${said}`);
    }
  }
}

const MAKING_SURE = "Looking until it is certain that it did nothing.";

function saidOf({ code, message }: Send): string {
  return `The service refused the cancel (${code ?? ""}).${serviceSays(message)}`;
}

function personMustLook(code: string, reason: string, refused: Send | null): CancelOutcome {
  if (code !== "refused") return unknown(`${reason} Ask it.`);
  const said = refused?.code ?? "no reason given";
  return unknown(
    `The service refused the cancel under several keys (${said}) and still shows the payment as if it could be cancelled. Ask the service.${serviceSays(refused?.message)}`,
  );
}

/**
 * Looks again, less and less often, and leaves the payment to a person if nothing changes for days.
 */
function lookUpLater(job: PaymentJob, clock: ClockReading, reason: string): CancelOutcome {
  if (isOld(job, clock)) return leftToPerson(reason);
  return backOff(growingMs(ageMs(job, clock), LOOKUPS), `${reason}; looking again.`);
}

function ageMs({ cancellation }: PaymentJob, { realMs }: ClockReading): number {
  return realMs - cancellation.requestedAtMs;
}

function isOld(job: PaymentJob, clock: ClockReading): boolean {
  return ageMs(job, clock) >= LEFT_TO_PERSON_AFTER_MS;
}

function leftToPerson(reason: string): CancelOutcome {
  return unknown(`${reason}, for days. Ask the service.`);
}

export function unknownPayment(job: PaymentJob, clock: ClockReading): CancelOutcome {
  // A payment that is known from its bill exists; a service may show it by its id only a moment
  // later.
  if (job.item.payableId !== null && ageMs(job, clock) < SHOWN_WITHIN_MS) {
    return lookUpLater(job, clock, "The service doesn't show this payment now");
  }
  return unknown("The service doesn't know this payment, or it is not this business's.");
}
