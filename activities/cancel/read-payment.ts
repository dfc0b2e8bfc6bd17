import type { ClockReading } from "../../src/business/clock.ts";
import type { Reading } from "../../src/ledger/facts.ts";
import { beginReading, readingOf } from "../../src/ledger/readings.ts";
import {
  type Payment,
  type PaymentsClient,
  OtherRecordError,
  PaymentsApiError,
} from "../../src/payments-api/index.ts";
import type { Db } from "../../src/store/sql/db.ts";

/**
 * Statuses with which a service answers to an id that it doesn't know, or that is none of its ids.
 */
const NO_SUCH_PAYMENT: readonly number[] = [400, 404, 410, 422];

/** Ids that can't be asked for: their paths would address something else. */
const NO_ID = /^\.{0,2}$/;

/** Reads a payment; undefined if the service knows none with this id. */
export async function readPayment(
  { payments }: Pick<PaymentsClient, "payments">,
  paymentId: string,
): Promise<Payment | undefined> {
  if (NO_ID.test(paymentId) || !paymentId.isWellFormed()) return undefined;
  try {
    const payment = await payments.get(paymentId);
    // One whose id can't be read may be another one.
    return payment.id === paymentId ? payment : undefined;
  } catch (error) {
    if (isNone(error)) return undefined;
    throw error;
  }
}

/**
 * Reads a payment as `readPayment` does, for the ledger: the payment is all that a cancel can
 * change.
 */
export async function readPaymentToCancel(
  client: Pick<PaymentsClient, "payments">,
  db: Db,
  clock: ClockReading,
  paymentId: string,
): Promise<{ readonly reading: Reading; readonly payment: Payment } | undefined> {
  const begun = await beginReading(db, clock);
  const payment = await readPayment(client, paymentId);
  return payment === undefined
    ? undefined
    : { reading: readingOf(begun, [payment], null), payment };
}

/**
 * Reads all payments of a vendor or a bill that a person has named; none if the service doesn't
 * know it. Must not be used to find out whether there is a payment: a refusal says nothing about
 * that.
 */
export async function listPayments(
  { payments }: Pick<PaymentsClient, "payments">,
  of: { readonly contactId?: string; readonly payableId?: string },
): Promise<Payment[]> {
  try {
    return await payments.listAll(of);
  } catch (error) {
    if (isNone(error)) return [];
    throw error;
  }
}

function isNone(error: unknown): boolean {
  // A payment with another id is not the one that was asked for.
  if (error instanceof OtherRecordError) return true;
  return error instanceof PaymentsApiError && NO_SUCH_PAYMENT.includes(error.status ?? 0);
}
