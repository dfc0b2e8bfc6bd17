import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { chunks, type Db } from "../sql/db.ts";

/** What the watch for late changes needs to know of a payment. */
export interface WatchedPayment {
  readonly id: string;
  readonly payableId: string;
}

/** A bill whose line is settled, though one of its payments no longer is. */
export interface LateChange {
  readonly payableId: string;
  /** The run that follows it, and looks by itself when it is signaled; null if none does. */
  readonly followedBy: string | null;
}

/**
 * Returns the bills of these payments, none of which is completed, whose lines have settled and
 * still have a subscription: banks take money back weeks later.
 *
 * A failure that a retry has dealt with, or is dealing with, is not late news.
 *
 * @param businessMs business clock
 */
export async function lateChanges(
  db: Db,
  businessId: string,
  payments: readonly WatchedPayment[],
  businessMs: number,
): Promise<LateChange[]> {
  const found = new Map<string, LateChange>();
  for (const some of chunks(payments)) {
    const rows = await db
      .selectFrom("run_lines")
      .innerJoin("runs", "runs.run_id", "run_lines.run_id")
      .innerJoin("subscriptions", (join) =>
        join
          .onRef("subscriptions.business_id", "=", "run_lines.business_id")
          .onRef("subscriptions.payable_id", "=", "run_lines.payable_id"),
      )
      .leftJoin("retries", (join) =>
        join
          .onRef("retries.business_id", "=", "run_lines.business_id")
          .onRef("retries.payable_id", "=", "run_lines.payable_id"),
      )
      .select([
        "run_lines.run_id",
        "run_lines.payable_id",
        "run_lines.payment_ids",
        "runs.phase",
        "subscriptions.owner",
        "retries.handled_payment_ids",
      ])
      .where("run_lines.business_id", "=", businessId)
      .where(
        "run_lines.payable_id",
        "in",
        some.map(({ payableId }) => payableId),
      )
      .where("run_lines.state", "=", "settled")
      .where("subscriptions.until_ms", ">", businessMs)
      .execute();
    for (const row of rows) {
      const own = JSON.parse(row.payment_ids) as string[];
      const handled = JSON.parse(row.handled_payment_ids ?? "[]") as string[];
      const isNews = some.some(
        ({ id, payableId }) =>
          payableId === row.payable_id && own.includes(id) && !handled.includes(id),
      );
      if (!isNews) continue;
      // A run doesn't look again at a bill that a retry has taken over, though it goes on with
      // others.
      const isOpen = !ENDED_PHASES.some((phase) => phase === row.phase);
      const followedBy = isOpen && row.owner === row.run_id ? row.run_id : null;
      found.set(row.payable_id, { payableId: row.payable_id, followedBy });
    }
  }
  return [...found.values()];
}

/** True if any payable of the business has a subscription that has not ended. */
export async function isWatching(db: Db, businessId: string, businessMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("subscriptions")
    .select("payable_id")
    .where("business_id", "=", businessId)
    .where("until_ms", ">", businessMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
