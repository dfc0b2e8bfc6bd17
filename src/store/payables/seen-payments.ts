import { sql, type Transaction } from "kysely";
import { chunks, type Db } from "../sql/db.ts";
import { findEach } from "../sql/records.ts";
import { rowsAs } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** A payment as it stood when it was read. */
export interface SeenPayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly updatedAt: string | null;
}

/** Returns these payments as they were last stored, by id. */
export async function seenPayments(
  db: Db,
  businessId: string,
  paymentIds: readonly string[],
): Promise<Map<string, SeenPayment>> {
  const seen = await findEach(db, "seen_payments", { businessId }, "payment_id", paymentIds);
  return new Map(
    seen.map(({ paymentId: id, status, amountCents, updatedAt }) => {
      return [id, { id, status, amountCents, updatedAt }];
    }),
  );
}

/** Stores payments as they stand now, in place of their earlier versions. */
export async function keepSeenPayments(
  trx: Transaction<Tables>,
  businessId: string,
  payments: readonly SeenPayment[],
): Promise<void> {
  for (const some of chunks(payments)) {
    const rows = rowsAs(
      "seen",
      "seen_payments",
      some.map(({ id, ...seen }) => ({ businessId, paymentId: id, ...seen })),
    );
    await sql`
      insert into seen_payments (business_id, payment_id, status, amount_cents, updated_at)
      select business_id, payment_id, status, amount_cents, updated_at from ${rows} where true
      on conflict (business_id, payment_id)
      do update set status = excluded.status, amount_cents = excluded.amount_cents,
        updated_at = excluded.updated_at`.execute(trx);
  }
}

/**
 * Returns the ids of a business's payments that changed at this instant of the service or later.
 */
export async function paymentsChangedSince(
  db: Db,
  businessId: string,
  since: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom("seen_payments")
    .select("payment_id")
    .where("business_id", "=", businessId)
    .where("updated_at", ">=", since)
    .execute();
  return rows.map((row) => row.payment_id);
}
