import { assertCents, sumCents } from "../money.ts";
import { isKnownUnpaid } from "./payment-states.ts";

/** The fields of a payment that say how much of a bill it covers. */
export interface PaymentAmount {
  readonly status: string;
  readonly amountCents: number;
}

export interface OwedInput {
  readonly totalCents: number;
  readonly amountPaidCents: number;
  /** All payments of the payable, external ones included; read before the payable itself. */
  readonly payments: readonly PaymentAmount[];
}

/**
 * Returns what may still be paid on a bill, in cents; never negative.
 *
 * The total, minus what is paid (the service's own figure or the completed payments, whichever is
 * larger), minus every other payment that is not known to be unpaid. The service doesn't say when
 * `amountPaidCents` changes, so a payment may be subtracted twice for a moment. The bill then
 * waits, which is the safe error.
 */
export function owedCents(input: OwedInput): number {
  assertCents(input.totalCents, "total of the bill");
  assertCents(input.amountPaidCents, "amount paid of the bill");
  const completed = sumCents(
    input.payments.filter((payment) => payment.status === "completed").map(amountOf),
  );
  const paid = Math.max(input.amountPaidCents, completed);
  return Math.max(0, input.totalCents - paid - onItsWayCents(input.payments));
}

/**
 * Sums the payments that are neither completed nor known to be unpaid. None of them ever adds to
 * what is owed.
 */
export function onItsWayCents(payments: readonly PaymentAmount[]): number {
  return sumCents(
    payments
      .filter((payment) => payment.status !== "completed" && !isKnownUnpaid(payment.status))
      .map(amountOf),
  );
}

/**
 * Returns by how many cents the payments that are not known to be unpaid exceed the bill; normally
 * 0.
 *
 * Ignores `amountPaidCents`, which may already contain payments on their way: a bill that is paid
 * once must not raise an alarm.
 */
export function overpaidCents(input: {
  readonly totalCents: number;
  readonly payments: readonly PaymentAmount[];
}): number {
  assertCents(input.totalCents, "total of the bill");
  const covered = sumCents(
    input.payments.filter((payment) => !isKnownUnpaid(payment.status)).map(amountOf),
  );
  return Math.max(0, covered - input.totalCents);
}

function amountOf(payment: PaymentAmount): number {
  return Math.max(0, payment.amountCents);
}
