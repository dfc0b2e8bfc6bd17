import { paymentNotOnRecord, paymentsNotOnRecord } from "../domain/facts/payments.ts";
import { record } from "../store/facts/record.ts";
import { type Author } from "../contracts/authors.ts";
import type { Transaction } from "kysely";
import { DAY_MS } from "../contracts/durations.ts";
import { lossAtBusinessMs, lossNoticed, mayPredateLoss } from "../store/janitor/behind.ts";
import { unreportedFacts } from "../store/notices/notices.ts";
import type { Db } from "../store/sql/db.ts";
import type { Tables } from "../store/schema/tables.ts";
import { madeIdsOf } from "./derive.ts";
import { loadSubjects } from "./rows.ts";

/**
 * Failures up to this long before the loss was noticed count, because a loss may be noticed days
 * after the backup. Older failures are in the list of payments.
 */
const BEFORE_LOSS_MS = 7 * DAY_MS;

/** A payment as the service shows it. */
export interface ShownPayment {
  readonly id: string;
  readonly payableId: string | null;
  readonly contactId: string | null;
  readonly amountCents: number;
  readonly status: string;
  readonly failureReason: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

/**
 * Returns which of these payments were made by requests in the store's ledger, as responses or
 * lookups have shown.
 */
export async function madeHere(
  db: Db,
  businessId: string,
  payments: readonly Pick<ShownPayment, "id" | "payableId">[],
): Promise<Set<string>> {
  const payableIds = [...new Set(payments.flatMap(({ payableId }) => payableId ?? []))];
  const facts = await loadSubjects(db, businessId, payableIds);
  const made = [...facts.values()].flatMap(({ attempts }) => attempts.flatMap(madeIdsOf));
  const asked = new Set(payments.map(({ id }) => id));
  return new Set(made.filter((id) => asked.has(id)));
}

/**
 * Returns the payments that failed or came back and that Payrun may have made although the store
 * has no record of them: the store has lost something, and they were made before the loss was
 * noticed.
 *
 * Returns none if the store has lost nothing: every payment that it has no record of is then
 * external.
 */
export async function forgottenOf<P extends ShownPayment>(
  db: Db,
  businessId: string,
  payments: readonly P[],
): Promise<P[]> {
  const cameBack = payments.filter(({ status }) => status === "failed" || status === "returned");
  if (cameBack.length === 0) return [];
  const loss = await lossNoticed(db, businessId);
  if (loss === null) return [];
  const lostAtMs = lossAtBusinessMs(loss);
  const possible = cameBack.filter((payment) => {
    const isOld = Date.parse(payment.updatedAt ?? "") < lostAtMs - BEFORE_LOSS_MS;
    return !isOld && mayPredateLoss(loss, payment);
  });
  if (possible.length === 0) return [];
  const made = await madeHere(db, businessId, possible);
  return possible.filter(({ id }) => !made.has(id));
}

/**
 * Notifies people of the payments that `forgottenOf` has found, in one notice and of each payment
 * only once: they would not learn otherwise that these have failed or come back.
 *
 * @returns false if people have been notified of all of them before
 */
export async function notifyOfForgotten(
  trx: Transaction<Tables>,
  businessId: string,
  forgotten: readonly ShownPayment[],
  by: { readonly actor: Author; readonly nowMs: number },
): Promise<boolean> {
  const { actor, nowMs } = by;
  const unreported = await unreportedFacts(
    trx,
    { businessId, kind: paymentsNotOnRecord.kind },
    forgotten.map(({ id }) => id),
  );
  const payments = forgotten.filter(({ id }) => unreported.has(id)).map(dataOf);
  if (payments.length === 0) return false;
  await record(trx, paymentsNotOnRecord({ businessId, nowMs }, { payments }));
  for (const payment of payments) {
    const subject = payment.payableId ?? payment.paymentId;
    await record(trx, paymentNotOnRecord({ businessId, nowMs, by: actor, subject }, payment));
  }
  return true;
}

function dataOf({
  id: paymentId,
  payableId,
  contactId,
  amountCents,
  status,
  failureReason,
}: ShownPayment) {
  return { paymentId, payableId, contactId, amountCents, status, reason: failureReason };
}
