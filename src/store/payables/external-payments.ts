import { type Expression, expressionBuilder, type SqlBool } from "kysely";
import type { RetryFailedPlaybook } from "../../contracts/playbook.ts";
import { eventsOf } from "../../domain/events/triggers.ts";
import { chunks, type Db } from "../sql/db.ts";
import { unreportedFacts } from "../notices/notices.ts";
import { listPlaybooks } from "../playbooks/playbooks.ts";
import type { Tables } from "../schema/tables.ts";

/** Kind of the notice about a failed payment that Payrun did not make. */
const EXTERNAL_PAYMENT_NOTICE = "payment-failed-elsewhere";

/** The event that reports each way in which a payment that Payrun did not make may end. */
const EVENT_OF = {
  failed: "payable.payment.failed",
  returned: "payable.payment.reversed",
} as const;
export type ExternalPaymentStatus = keyof typeof EVENT_OF;
const STATUSES = Object.keys(EVENT_OF) as ExternalPaymentStatus[];

/**
 * Returns the playbook that looks after external payments with this ending; undefined if there is
 * none.
 */
export async function playbookForExternalPayments(
  db: Db,
  business: string,
  status: ExternalPaymentStatus,
): Promise<RetryFailedPlaybook | undefined> {
  for (const { compiled } of await listPlaybooks(db, business)) {
    if (compiled.kind !== "retry-failed") continue;
    if (eventsOf(compiled).includes(EVENT_OF[status])) return compiled;
  }
  return undefined;
}

/** Returns the endings of external payments that a playbook looks after. */
export async function externalPaymentsLookedAfter(
  db: Db,
  business: string,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const status of STATUSES) {
    if ((await playbookForExternalPayments(db, business, status)) !== undefined) found.add(status);
  }
  return found;
}

/**
 * Returns a condition that is true of lines for which something was sent. A restored store may have
 * forgotten that, and found the payments again at the service.
 */
export function isPaidHere(): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, "run_lines">();
  return eb.or([eb("run_lines.attempts", ">", 0), eb("run_lines.payment_ids", "!=", "[]")]);
}

/** Returns for which of these payables a run has sent payments, however long ago. */
export async function paidHere(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const ids of chunks(payableIds)) {
    const rows = await db
      .selectFrom("run_lines")
      .select("payable_id")
      .distinct()
      .where("business_id", "=", businessId)
      .where("payable_id", "in", ids)
      .where(isPaidHere())
      .execute();
    for (const row of rows) found.add(row.payable_id);
  }
  return found;
}

/** Kind of the notice about payments that came back and that a restored store has no record of. */
const FORGOTTEN_PAYMENT_NOTICE = "payment-not-on-record";

/**
 * Returns which of these failed payments are not Payrun's own and have not been reported by a
 * notice.
 */
export async function unreportedExternalPayments<
  P extends { readonly id: string; readonly payableId: string },
>(db: Db, businessId: string, payments: readonly P[]): Promise<P[]> {
  const found: P[] = [];
  for (const some of chunks(payments)) {
    const own = await paidHere(
      db,
      businessId,
      some.map(({ payableId }) => payableId),
    );
    const ids = some.map(({ id }) => id);
    const reported = await db
      .selectFrom("notices")
      .select("fact_key")
      .where("business_id", "=", businessId)
      .where("kind", "=", EXTERNAL_PAYMENT_NOTICE)
      .where("fact_key", "in", ids)
      .execute();
    const asForgotten = { businessId, kind: FORGOTTEN_PAYMENT_NOTICE } as const;
    const unreported = await unreportedFacts(db, asForgotten, ids);
    for (const { fact_key: id } of reported) unreported.delete(id);
    found.push(...some.filter(({ id, payableId }) => unreported.has(id) && !own.has(payableId)));
  }
  return found;
}
