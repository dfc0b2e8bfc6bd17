import { formatUsd } from "../money.ts";
import {
  besideText,
  byOthers,
  centsOf,
  foundPaid,
  mayBeOurs,
  paymentNames,
  whereOthers,
} from "./others-texts.ts";
import { isKnownUnpaid } from "./payment-states.ts";
import { type PaidOnceAttempt, requestText } from "./request-texts.ts";
import { type Standing, standingText } from "./standing.ts";

/** A payment of a bill, made by Payrun or not. */
export interface PaidOncePayment {
  readonly id: string;
  readonly amountCents: number;
  /** As the service reports it now, or as it was last seen. */
  readonly status: string;
  readonly failureReason?: string | null | undefined;
  /** True if it was seen completed before: a bank may take back what has settled. */
  readonly hadSettled?: boolean | undefined;
  /**
   * True for a payment without a request in this store that Payrun may have made before the store
   * was restored.
   */
  readonly mayBeOurs?: boolean | undefined;
}

export interface PaidOnceFacts extends Standing {
  /** The approved or planned amount; null if no run has planned it. */
  readonly amountCents: number | null;
  /** The whole bill; null if no run has planned it. */
  readonly totalCents?: number | null | undefined;
  /** Requests to pay it, first to last. */
  readonly attempts: readonly PaidOnceAttempt[];
  /** The bill's lines in the plans of runs, with the approved amount of each. */
  readonly lines?: readonly {
    readonly amountCents: number;
    readonly paymentIds: readonly string[];
  }[];
  /** Payments that its requests made, first to last. */
  readonly payments: readonly PaidOncePayment[];
  /** Payments of the bill that no request of Payrun made, as far as is known. */
  readonly others?: readonly PaidOncePayment[] | undefined;
  /** False if the service didn't answer: its payments are then as Payrun saw them last. */
  readonly serviceAnswered?: boolean | undefined;
}

/** `unknown`: a response is missing, so a request may have paid. */
export const PAID_ONCE_VERDICTS = [
  "paid-once",
  "on-its-way",
  "not-paid",
  "partly-paid",
  "too-much",
  "unknown",
] as const;
type PaidOnceVerdict = (typeof PAID_ONCE_VERDICTS)[number];

/** Every way that a bill can have gone. */
export const BILL_WAYS = [
  /** No payment was ever made for it; the state says what it waits for, or how it ended. */
  "never-sent",
  /** No run has planned it, and one that left it out has given the reason. */
  "left-out",
  "on-its-way",
  "held-by-service",
  "paid",
  /**
   * In several payments: the service splits large amounts, and several lines may pay parts of it.
   */
  "paid-in-parts",
  /** After an earlier payment ended unpaid. */
  "paid-again",
  "partly-paid",
  "too-much",
  /** A payment not made by Payrun paid it, or a person says so. */
  "paid-elsewhere",
  "failed",
  "returned",
  /** After it had settled. */
  "returned-late",
  "cancelled",
  "refund-pending",
  "refunded",
  /** A request has no final response. */
  "unknown",
] as const;
type BillWay = (typeof BILL_WAYS)[number];

interface Conclusion {
  readonly verdict: PaidOnceVerdict;
  readonly way: BillWay;
  readonly text: string;
}

/**
 * Says whether a bill was paid once, which way it went, and how that is known. The sentences are
 * for a person: the conclusion first, and each from the facts given.
 */
export function paidOnce(facts: PaidOnceFacts): Omit<Conclusion, "text"> & {
  readonly sentences: readonly string[];
} {
  const { verdict, way, text } = conclusion(facts);
  const requests = facts.attempts.map((each) => requestText(each, facts.payments));
  return { verdict, way, sentences: [text, ...requests] };
}

/** True if the conclusion gives a reason already, with or without the reason's full stop. */
export function isSaidBy(
  { sentences: [conclusionText = ""] }: { readonly sentences: readonly string[] },
  reason: string,
): boolean {
  return conclusionText.includes(reason.replace(/\.$/, ""));
}

function conclusion(facts: PaidOnceFacts): Conclusion {
  const { attempts, payments, others = [] } = facts;
  const open = attempts.find(({ state }) => state === "open");
  if (open !== undefined) {
    const text = `It is not known yet whether request ${open.seq} has paid; until it is, only the same request under the same key, or a lookup, can follow.`;
    return { verdict: "unknown", way: "unknown", text };
  }
  const good = payments.filter(isGood);
  const beside = others.filter(isGood);
  if (good.length === 0) return withoutPayment(facts, beside);
  const cents = centsOf(good);
  const due = approvedFor(good, facts) ?? facts.amountCents ?? cents;
  const tooMuch = tooMuchText(facts, { good, beside, due });
  if (tooMuch !== null) return ofTooMuch(tooMuch, facts);
  const bad = payments.filter((payment) => !isGood(payment));
  if (cents < due) {
    const rest = bad.length === 0 ? "" : ` ${listed(bad)}.`;
    const text = `Only a part: ${paymentNames(good)} of ${formatUsd(cents)} of ${formatUsd(due)} that were approved.${rest}${besideText(beside)}`;
    return { verdict: "partly-paid", way: "partly-paid", text };
  }
  return inFull(facts, { good, bad, beside });
}

/**
 * Returns the cents approved for the lines that these payments pay: several lines if the bill is
 * paid in parts. Undefined if a payment belongs to no line.
 */
function approvedFor(
  good: readonly PaidOncePayment[],
  { lines = [] }: PaidOnceFacts,
): number | undefined {
  const theirs = lines.filter(({ paymentIds }) => good.some(({ id }) => paymentIds.includes(id)));
  const isWhole = good.every(({ id }) => theirs.some(({ paymentIds }) => paymentIds.includes(id)));
  return isWhole ? centsOf(theirs) : undefined;
}

function tooMuchText(
  { totalCents = null }: PaidOnceFacts,
  paid: {
    readonly good: readonly PaidOncePayment[];
    readonly beside: readonly PaidOncePayment[];
    readonly due: number;
  },
): string | null {
  const { good, beside, due } = paid;
  const [ours, theirs] = [centsOf(good), centsOf(beside)];
  if (ours > due)
    return `${paymentNames(good)} of ${formatUsd(ours)} for ${formatUsd(due)} that were approved.`;
  if (theirs === 0 || totalCents === null || ours + theirs <= totalCents) return null;
  return `${paymentNames(good)} of ${formatUsd(ours)}, and ${whereOthers(beside)} ${paymentNames(beside)} of ${formatUsd(theirs)}, for a bill of ${formatUsd(totalCents)}.`;
}

/** Raises no alarm if the facts may be old: an earlier payment may have failed in the meantime. */
function ofTooMuch(what: string, { serviceAnswered = true }: PaidOnceFacts): Conclusion {
  return serviceAnswered
    ? { verdict: "too-much", way: "too-much", text: `Too much: ${what}` }
    : {
        verdict: "unknown",
        way: "unknown",
        text: `It is not known whether too much was paid: Payrun last saw ${what}`,
      };
}

/** Returns the conclusion that all that was approved has been paid, or is on its way. */
function inFull(
  { payments }: PaidOnceFacts,
  paid: {
    readonly good: readonly PaidOncePayment[];
    readonly bad: readonly PaidOncePayment[];
    readonly beside: readonly PaidOncePayment[];
  },
): Conclusion {
  const { good, bad, beside } = paid;
  const what = `${paymentNames(good)} of ${formatUsd(centsOf(good))}, all that was approved.`;
  const isDone = good.every(({ status }) => status === "completed");
  const [first] = bad;
  const isAgain =
    first !== undefined &&
    payments.findLastIndex(isGood) > payments.findIndex((one) => one === first);
  const others =
    first === undefined
      ? " Payrun made no other."
      : isAgain
        ? ` It ${isDone ? "was" : "is being"} paid again after ${listed(bad)}.`
        : ` ${listed(bad)}.`;
  const rest = `${others}${besideText(beside)}`;
  if (isDone) {
    const way = isAgain ? "paid-again" : good.length > 1 ? "paid-in-parts" : "paid";
    return { verdict: "paid-once", way, text: `Paid once, by ${what}${rest}` };
  }
  const isHeld = good.some(({ status }) => status === "held");
  const held = isHeld ? " The service holds it for review." : "";
  const text = `On its way once, by ${what}${held}${rest}`;
  return { verdict: "on-its-way", way: isHeld ? "held-by-service" : "on-its-way", text };
}

/** Returns the conclusion about a bill that no payment of Payrun's pays. */
function withoutPayment(facts: PaidOnceFacts, beside: readonly PaidOncePayment[]): Conclusion {
  const { payments, state, leftOut, totalCents = null } = facts;
  const sent = sentText(facts);
  const verdict = "not-paid";
  if (beside.length > 0 && centsOf(beside) >= (totalCents ?? 0)) {
    const text = `${foundPaid(beside)}: ${sent}.${besideText(beside)}`;
    return { verdict, way: "paid-elsewhere", text };
  }
  if (state === "paid-elsewhere") return calledPaidElsewhere(facts, beside);
  const stands = `${standingText(facts)}${besideText(beside)}`;
  const last = payments.at(-1);
  if (last === undefined) {
    const way = state === null && leftOut != null ? "left-out" : "never-sent";
    return { verdict, way, text: `Not paid by Payrun: ${sent}.${endedText(facts)}${stands}` };
  }
  const all = payments.length === 1 ? "The payment that was made" : "All payments that were made";
  const ended = [...new Set(payments.map(({ status }) => status))].join(" or ");
  const text = `Not paid: ${all} ended ${ended}: ${listed(payments)}.${stands}`;
  return { verdict, way: wayOfLast(last), text };
}

/**
 * Returns the conclusion about a bill that a run or a person has called paid elsewhere, although
 * the payments that still count don't cover it.
 */
function calledPaidElsewhere(facts: PaidOnceFacts, beside: readonly PaidOncePayment[]): Conclusion {
  const { others = [], resolvedBy } = facts;
  const sent = sentText(facts);
  const way = "paid-elsewhere";
  if (resolvedBy != null) {
    const text = `Not paid by Payrun: ${sent}. ${resolvedBy} said that it was paid elsewhere.${besideText(beside)}`;
    return { verdict: "not-paid", way, text };
  }
  const ended = others.filter((payment) => !isGood(payment));
  const last = ended.at(-1);
  if (last !== undefined && beside.length === 0) {
    const text = `Not paid: Payrun found it paid by ${byOthers(ended)}, but ${listed(ended)}; and ${sent}.`;
    return { verdict: "not-paid", way: wayOfLast(last), text };
  }
  const text = `${foundPaid(beside)}: ${sent}.${besideText(beside)}`;
  return { verdict: "not-paid", way, text };
}

const WAYS: Readonly<Record<string, BillWay>> = {
  failed: "failed",
  returned: "returned",
  cancelled: "cancelled",
  refund_pending: "refund-pending",
  refunded: "refunded",
};

function wayOfLast({ status, hadSettled }: PaidOncePayment): BillWay {
  if (hadSettled === true && status === "returned") return "returned-late";
  return WAYS[status] ?? "failed";
}

/**
 * Lists how payments ended: `pmt_1 failed (R01), pmt_2 was returned (R02) after it had settled`.
 */
function listed(payments: readonly PaidOncePayment[]): string {
  return payments.map((payment) => `${payment.id} ${endText(payment)}`).join(", ");
}

function endText({ status, failureReason, hadSettled }: PaidOncePayment): string {
  if (status === "refund_pending") return "was cancelled, and its money is on its way back";
  const why = failureReason == null || failureReason === "" ? "" : ` (${failureReason})`;
  const after = hadSettled === true ? " after it had settled" : "";
  return `${status === "failed" ? status : `was ${status}`}${why}${after}`;
}

function sentText({ attempts, payments, others = [] }: PaidOnceFacts): string {
  if (payments.length > 0) return `Payrun's own ended unpaid (${listed(payments)})`;
  if (attempts.some(({ sends }) => sends.length > 0))
    return "none of the requests that were sent made a payment";
  return others.some(mayBeOurs)
    ? "this store, which was restored, has no record of a request to pay it"
    : "no request to pay it was ever sent";
}

/**
 * Lists the payments that Payrun may have made before its store was restored and that ended unpaid.
 */
function endedText({ others = [] }: PaidOnceFacts): string {
  const ended = others.filter((payment) => mayBeOurs(payment) && !isGood(payment));
  return ended.length === 0 ? "" : ` Not on record here: ${listed(ended)}.`;
}

/** False if the vendor certainly doesn't have this payment's money, and won't get it. */
function isGood({ status }: PaidOncePayment): boolean {
  return !isKnownUnpaid(status) && status !== "refund_pending";
}
