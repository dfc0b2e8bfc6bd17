import type { LineState } from "../../contracts/pay-run.ts";
import { formatUsd, sumCents } from "../money.ts";
import { isKnownUnpaid } from "./payment-states.ts";

export interface PaidOnceAttempt {
  readonly seq: number;
  /**
   * `open`: it may still pay; `dead`: its key never will; `refused`: it has had no effect so far.
   */
  readonly state: "open" | "applied" | "dead" | "refused";
  /** Null if the store was restored and knows only the effect. */
  readonly amountCents: number | null;
  readonly answer: string | null;
  readonly sends: readonly { readonly result: string; readonly code?: string }[];
  readonly paymentIds: readonly string[];
  readonly lookUps: readonly { readonly verdict: string; readonly isConclusive: boolean }[];
}

export interface PaidOnceFacts {
  /** State of the bill's current line; null if no run has planned it. */
  readonly state: LineState | null;
  /** The approved or planned amount; null if no run has planned it. */
  readonly amountCents: number | null;
  /** Attempts to pay it, first to last. */
  readonly attempts: readonly PaidOnceAttempt[];
  /** Payments that they made, with their last known status. */
  readonly payments: readonly {
    readonly id: string;
    readonly amountCents: number;
    readonly status: string;
  }[];
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

/**
 * Says whether a bill was paid once, and how that is known: sentences for a person, the conclusion
 * first, each from the facts given.
 */
export function paidOnce(facts: PaidOnceFacts): {
  readonly verdict: PaidOnceVerdict;
  readonly sentences: readonly string[];
} {
  const { verdict, text } = conclusion(facts);
  return { verdict, sentences: [text, ...facts.attempts.map((each) => ofAttempt(each, facts))] };
}

function conclusion({ state, amountCents, attempts, payments }: PaidOnceFacts): {
  readonly verdict: PaidOnceVerdict;
  readonly text: string;
} {
  const open = attempts.find(({ state: is }) => is === "open");
  if (open !== undefined) {
    const text = `It is not known yet whether request ${open.seq} has paid; until it is, only the same request under the same key, or a lookup, can follow.`;
    return { verdict: "unknown", text };
  }
  const good = payments.filter(({ status }) => !isKnownUnpaid(status));
  const goodCents = sumCents(good.map((payment) => payment.amountCents));
  const isDone = good.every(({ status }) => status === "completed");
  const due = amountCents ?? goodCents;
  if (good.length === 0) return { verdict: "not-paid", text: notPaid(state, attempts, payments) };
  const sum = `${good.length === 1 ? "payment" : `${good.length} payments`} (${good.map(({ id }) => id).join(", ")}) of ${formatUsd(goodCents)}`;
  if (goodCents > due) {
    const text = `Too much: ${sum} for ${formatUsd(due)} that were approved.`;
    return { verdict: "too-much", text };
  }
  if (goodCents < due) {
    const text = `Only a part: ${sum} of ${formatUsd(due)} that were approved.`;
    return { verdict: "partly-paid", text };
  }
  const dead = payments.length - good.length;
  const rest =
    dead === 0
      ? "Payrun made no other."
      : `${dead === 1 ? "The other one" : "All others"} ended unpaid.`;
  return isDone
    ? { verdict: "paid-once", text: `Paid once, by ${sum}, all that was approved. ${rest}` }
    : { verdict: "on-its-way", text: `On its way once, by ${sum}, all that was approved. ${rest}` };
}

function notPaid(
  state: LineState | null,
  attempts: readonly PaidOnceAttempt[],
  payments: readonly { readonly status: string }[],
): string {
  if (payments.length > 0) {
    const all = payments.length === 1 ? "The payment that was made" : "All payments that were made";
    return `Not paid: ${all} ended ${[...new Set(payments.map(({ status }) => status))].join(" or ")}.`;
  }
  const here = attempts.some(({ sends }) => sends.length > 0)
    ? "none of the requests that were sent made a payment"
    : "no request to pay it was ever sent";
  return state === "paid-elsewhere"
    ? `Not paid by Payrun, which found it paid by somebody else: ${here}.`
    : `Not paid by Payrun: ${here}.`;
}

function ofAttempt(attempt: PaidOnceAttempt, { payments }: PaidOnceFacts): string {
  const { seq, state, paymentIds, amountCents } = attempt;
  const made = paymentIds
    .map(
      (id) =>
        `${id} (${payments.find((payment) => payment.id === id)?.status ?? "status unknown"})`,
    )
    .join(", ");
  if (amountCents === null) {
    return `Request ${seq} is not in this store, which was restored: a lookup found ${made} instead, exactly what was approved, so it was not sent again.`;
  }
  const left = attempt.sends.filter(({ result }) => result !== "not-sent").length;
  const times =
    left === 0
      ? "never left"
      : left === 1
        ? "was sent once"
        : `was sent ${left} times, each time under the same key, which the service carries out once at most`;
  const begin = `Request ${seq} for ${formatUsd(amountCents)} ${times}`;
  switch (state) {
    case "applied":
      return attempt.answer === "2xx"
        ? `${begin}, and the response named ${made}.`
        : `${begin}, and no response said what it made: a lookup found ${made}, not there before and exactly its amount, so it was not sent again.`;
    case "dead":
      return `${begin}; ${ofDead(attempt)}`;
    case "refused":
      return left === 0
        ? `${begin}.`
        : `${begin}; ${nothingCame(attempt)} Nothing is sent under its key unless the bill is approved and checked again.`;
    case "open":
      return `${begin}, and has no final response yet.`;
  }
}

/** Why a key will never pay. */
function ofDead(attempt: PaidOnceAttempt): string {
  const has = (result: string) => attempt.sends.some((send) => send.result === result);
  const last = attempt.sends.findLast(({ code }) => code !== undefined);
  const why = has("unconfirmed")
    ? "the service could not say whether it paid"
    : has("conflict")
      ? "the service holds other bytes under its key"
      : `the service refuses it for good${last?.code === undefined ? "" : ` (${last.code})`}`;
  return `${why}, so its key will never pay. ${lookedUp(attempt) ?? "Every send of it got a response."}`;
}

function nothingCame(attempt: PaidOnceAttempt): string {
  return lookedUp(attempt) ?? "every send was refused.";
}

function lookedUp({ lookUps }: PaidOnceAttempt): string | undefined {
  const last = lookUps.at(-1);
  if (last?.verdict !== "none") return undefined;
  return last.isConclusive
    ? "A lookup made after its window found no payment of it."
    : "A lookup found no payment of it.";
}
