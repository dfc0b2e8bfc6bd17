import { DAY_MS } from "../../src/contracts/durations.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import { doublingMs, growingMs } from "../../src/domain/back-off.ts";
import type { CancelVerdict } from "../../src/domain/cancellations/judge-payment.ts";
import { CANCEL_WAITS } from "../../src/domain/service-waits.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import type { KeyedAttempt, Reading, Send } from "../../src/ledger/facts.ts";
import type { Closed } from "../../src/ledger/gate.ts";
import type { JudgedAnswer } from "../../src/ledger/answers.ts";
import { lastSend, leftAgoMs, saidNo } from "../../src/ledger/last-send.ts";
import type { SendOutcome } from "../../src/ledger/results.ts";
import type { Said } from "../../src/ledger/said.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import { backOff, backOffAfter } from "../shared/back-off.ts";
import { businessFault } from "../shared/business-fault.ts";
import type { Heard } from "../shared/perform.ts";
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

/** Judges what becomes of a payment, by what was said of its cancel, or of there being none. */
export function outcomeOfCancel(
  job: PaymentJob,
  said: Said,
  heard: Heard<Judged | undefined>,
): CancelOutcome {
  const { seen, sent } = heard;
  if (seen === undefined) return unknownPayment(job, heard.clock);
  return sent === null ? withoutSend(job, seen, said, heard) : afterSend(said, sent, heard.isOpen);
}

/** Judges the answer to a cancel. */
function afterSend(said: Said, { send, status }: SendOutcome, isOpen: boolean): CancelOutcome {
  switch (said.kind) {
    case "applied":
      return applied(said.payments[0]?.status, send);
    case "refused":
      return isLookedAt(said.code, status, isOpen)
        ? backOff(REFUSED_WAIT_MS, REFUSED)
        : refusedFor(said.code, said.message);
    case "unknown":
      return backOffAfter(send, said.reason);
    case "later":
      // Other faults concern payments, or are known only for them: nothing else waits for their end.
      return said.of === "business" && CANCEL_WAITS.includes(said.code)
        ? businessFault(said.code, said.reason, said.waitMs)
        : backOffAfter(send, said.reason);
    default:
      throw new Error(`no answer to a cancel says ${said.kind}`);
  }
}

/** True if only reading the payment shows what follows from an answer. */
export function isToBeRead({ said, result, status }: JudgedAnswer, isOpen: boolean): boolean {
  if (said.kind === "refused") return isLookedAt(said.code, status, isOpen);
  return result === "not-sent" || result === "unconfirmed";
}

/** True for a refusal that depends on what the payment is, or what is being done to it. */
function isLookedAt(code: string, status: number | null, isOpen: boolean): boolean {
  const isOfTheMoment = status !== null && OF_THE_MOMENT.includes(status);
  return isOpen || isOfTheMoment || CHANGED.includes(code);
}

/** Refusals that depend on what is being done to the payment at the moment. */
const OF_THE_MOMENT: readonly number[] = [409, 423, 425];

/** Codes that say that the payment has changed; reading the payment shows how. */
const CHANGED: readonly string[] = ["payment_not_cancellable", "not_found"];

const REFUSED_WAIT_MS = 15_000;
const REFUSED = "The service refuses to cancel it and shows it as if it could; trying again.";

function refusedFor(code: string, message: string): CancelOutcome {
  return unknown(`The service refused the cancel (${code}).${serviceSays(message)}`);
}

/**
 * Judges the service's word that it cancelled, by the payment's status now: where the money went.
 */
function applied(status: string | undefined, send: OpenedSend): CancelOutcome {
  switch (status) {
    case "cancelled":
      return ended("cancelled", "Cancelled. No money moved.");
    case "refunded":
      return ended("refunded", "The money is back.");
    case "refund_pending":
      return { kind: "returning", reason: "The money is on its way back." };
    default: {
      const shown = status ?? "not shown";
      return backOffAfter(send, `The service says that it is cancelled, and it is ${shown} still.`);
    }
  }
}

/** Judges a payment whose cancel the gate hasn't let through, or that needs none. */
function withoutSend(
  job: PaymentJob,
  judged: Judged,
  said: Said,
  { closed, clock }: Pick<Heard<unknown>, "closed" | "clock">,
): CancelOutcome {
  const { verdict, payment, sends } = judged;
  const mayStillApply = said.kind === "unknown" || said.kind === "later";
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
  if (closed !== null) return gateClosed(closed, mayStillApply);
  return notCancelledYet(judged, said, growingMs(ageMs(job, clock), LOOKUPS));
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
function notCancelledYet({ sends }: Judged, said: Said, mostMs: number): CancelOutcome {
  const { no, refused } = sends;
  switch (said.kind) {
    case "person":
      return personMustLook(said.code, said.reason, refused);
    case "unknown":
    case "later": {
      const reason = no === null ? said.reason : `${saidOf(no)} ${MAKING_SURE}`;
      return backOff(Math.min(said.waitMs || LOOK_AGAIN_MS, mostMs), reason);
    }
    case "applied": {
      const reason =
        "The service says that it is cancelled, and shows it as it was; looking again.";
      return backOff(mostMs, reason);
    }
    default: {
      if (no !== null) return refusedFor(no.code ?? "", no.message ?? "");
      const code = refused === null ? "." : ` (${refused.code}).${serviceSays(refused.message)}`;
      return backOff(sends.pauseMs, `The service refuses it for now${code}`);
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

function unknownPayment(job: PaymentJob, clock: ClockReading): CancelOutcome {
  // A payment that is known from its bill exists; a service may show it by its id only a moment
  // later.
  if (job.item.payableId !== null && ageMs(job, clock) < SHOWN_WITHIN_MS) {
    return lookUpLater(job, clock, "The service doesn't show this payment now");
  }
  return unknown("The service doesn't know this payment, or it is not this business's.");
}
