import { instantOf } from "../domain/clock/instants.ts";
import { namesOther } from "../domain/payments/whose.ts";
import type { ClockReading } from "../business/clock.ts";
import type { Payment, PaymentsClient } from "../payments-api/index.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import type { Db } from "../store/sql/db.ts";
import type { Reading, ShownThing } from "./facts.ts";
import { namedDay } from "../domain/clock/named-day.ts";

/** When a reading began, on the clocks that the ledger judges by. */
export type Begun = Pick<Reading, "begunAtMs" | "begunServiceMs">;

/**
 * Reads the clocks before the reading's first request leaves: the reading may miss what happens
 * later.
 */
export async function beginReading(db: Db, clock: ClockReading): Promise<Begun> {
  const begunServiceMs = clock.serviceHeard ? Math.floor(clock.serviceMs) : null;
  return { begunAtMs: await databaseNowMs(db), begunServiceMs };
}

/**
 * Reads every payment of a payable, external ones included: all pages, no status or time filter
 * (rule 6).
 */
export async function readPayments(
  client: PaymentsClient,
  db: Db,
  clock: ClockReading,
  payableId: string,
): Promise<{ readonly reading: Reading; readonly payments: readonly Payment[] }> {
  const begun = await beginReading(db, clock);
  const payments = await client.payments.listAll({ payableId });
  return { reading: readingOf(begun, payments, payableId), payments };
}

/**
 * Makes a reading of all payments that the service shows for a payable. One that can't be read may
 * be the effect of any request, so the reading is then not whole, and proves nothing (rule 6).
 *
 * One that names another bill stays in the reading, readable or not. What was there before a
 * request explains nothing about it; but if it appears while a request has no response, it may be
 * the request's effect under a wrong name, so no other request may follow. It is never taken for
 * that effect either.
 *
 * @param payableId whose payments were asked for; null if a single payment was
 */
export function readingOf(
  begun: Begun,
  payments: readonly Payment[],
  payableId: string | null,
): Reading {
  const shown = payments.map((payment) => shownPayment(payment, payableId));
  return {
    ...begun,
    isWhole: payments.every(
      ({ unreadable }, index) => unreadable === undefined || shown[index]?.namesOther === true,
    ),
    shownIds: payments.map(({ id }) => id),
    shown,
  };
}

function shownPayment(payment: Payment, payableId: string | null): ShownThing {
  const { id, amountCents, status, contactId, bankAccountId, paymentRail, scheduledAt } = payment;
  const executionDate = namedDay(scheduledAt);
  const createdAtMs = instantOf(payment.createdAt);
  const terms = { contactId, bankAccountId, rail: paymentRail, executionDate };
  const isOther = payableId !== null && namesOther(payment, payableId);
  const named = isOther ? { namesOther: true } : {};
  return { id, amountCents, status, ...terms, createdAtMs, ...named };
}
