import { type Author } from "../contracts/authors.ts";
import type { Transaction } from "kysely";
import { DAY_MS } from "../contracts/durations.ts";
import { formatUsd } from "../domain/money.ts";
import { appendAuditEntries } from "../store/audit/audit.ts";
import { lossAtBusinessMs, lossNoticed, mayPredateLoss } from "../store/janitor/behind.ts";
import { raiseTogether, unreportedFacts } from "../store/notices/notices.ts";
import { FORGOTTEN_PAYMENT_NOTICE } from "../store/payables/external-payments.ts";
import type { Db } from "../store/sql/db.ts";
import type { Tables } from "../store/schema/tables.ts";
import { madeIdsOf } from "./derive.ts";
import { loadSubjects } from "./rows.ts";

/**
 * Failures up to this long before the loss was noticed count, because a loss may be noticed days
 * after the backup. Older failures are in the list of payments.
 */
const BEFORE_LOSS_MS = 7 * DAY_MS;

/** How many payments a notice lists; its data contains all of them. */
const LISTED_MOST = 40;

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
  const about = { businessId, kind: FORGOTTEN_PAYMENT_NOTICE } as const;
  const unreported = await unreportedFacts(
    trx,
    about,
    forgotten.map(({ id }) => id),
  );
  const news = forgotten.filter(({ id }) => unreported.has(id));
  const [first] = news;
  if (first === undefined) return false;
  const ids = news.map(({ id }) => id);
  const notice = { ...about, factKey: first.id, ...textsOf(news), roles: ["operator"], nowMs };
  await raiseTogether(trx, { ...notice, data: { payments: news.map(dataOf) } }, ids);
  await appendAuditEntries(
    trx,
    news.map((payment) => ({
      businessId,
      nowMs,
      actor,
      action: "payment.not-on-record",
      subject: payment.payableId ?? payment.id,
      details: dataOf(payment),
    })),
  );
  return true;
}

function textsOf(news: readonly ShownPayment[]): {
  readonly subject: string;
  readonly text: string;
} {
  const [first] = news;
  const what =
    first !== undefined && news.length === 1
      ? `A payment of ${formatUsd(first.amountCents)} that this store has no record of ${endOf(first)}`
      : `${news.length} payments that this store has no record of have come back`;
  const rest = news.length - LISTED_MOST;
  const lines = [
    ...news.slice(0, LISTED_MOST).map(lineOf),
    ...(rest > 0 ? [`and ${rest} more, which the trail has.`] : []),
    "",
    "Payrun made them after the backup that this store was restored from, or someone else made them. Payrun pays none of them again by itself: the next run that selects such a bill asks for an approval.",
    "What to do: payrun explain BILL shows all payments of a bill; make sure that each vendor gets what is owed, once.",
  ];
  return { subject: what, text: lines.join("\n") };
}

function lineOf(payment: ShownPayment): string {
  const { id, payableId, contactId, amountCents, failureReason } = payment;
  const bill = payableId === null ? "" : ` for ${payableId}`;
  const vendor = contactId === null ? "a vendor whom the service does not name" : contactId;
  const why = failureReason ?? "no return code given";
  return `- ${id}, ${formatUsd(amountCents)} to ${vendor}${bill}, ${endOf(payment)}: ${why}`;
}

function endOf({ status }: ShownPayment): string {
  return status === "returned" ? "was returned" : "has failed";
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
