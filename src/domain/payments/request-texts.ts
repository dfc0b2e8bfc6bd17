import { formatUsd } from "../money.ts";

/** One request to pay a bill, with the facts by which its effect is judged. */
export interface PaidOnceAttempt {
  readonly seq: number;
  /**
   * `open`: it may still pay; `dead`: its key never will; `refused`: it has had no effect so far.
   */
  readonly state: "open" | "applied" | "dead" | "refused";
  /** Null if the store was restored and knows only the request's effect. */
  readonly amountCents: number | null;
  readonly answer: string | null;
  readonly sends: readonly { readonly result: string; readonly code?: string }[];
  readonly paymentIds: readonly string[];
  readonly lookUps: readonly { readonly verdict: string; readonly isConclusive: boolean }[];
}

/**
 * Describes for a person what one request has led to.
 *
 * @param payments all payments of the bill, with their last known status
 */
export function requestText(
  attempt: PaidOnceAttempt,
  payments: readonly { readonly id: string; readonly status: string }[],
): string {
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

/** Says why a key will never pay. */
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
