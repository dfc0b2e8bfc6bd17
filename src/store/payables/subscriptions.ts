import type { Transaction } from "kysely";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { changeRecords, findEach } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** The mark that a workflow gets the events of a payable. */
export type Subscription = RecordOf<"subscriptions">;

/** Subscribes one owner to many payables from now on, in place of their earlier owners. */
export async function setSubscriptions(
  db: Db,
  subscriptions: {
    readonly businessId: string;
    readonly business: string;
    readonly payableIds: readonly string[];
    readonly owner: string;
    readonly untilMs: number;
  },
): Promise<void> {
  const { businessId, business, owner, untilMs } = subscriptions;
  for (const ids of chunks([...new Set(subscriptions.payableIds)])) {
    await db
      .insertInto("subscriptions")
      .values(
        ids.map((payableId) => asColumns({ businessId, payableId, business, owner, untilMs })),
      )
      .onConflict((conflict) =>
        conflict.columns(["business_id", "payable_id"]).doUpdateSet((eb) => ({
          business: eb.ref("excluded.business"),
          owner: eb.ref("excluded.owner"),
          until_ms: eb.ref("excluded.until_ms"),
        })),
      )
      .execute();
  }
}

/** Returns the subscriptions to these payables. */
export async function subscribersOf(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Subscription[]> {
  return findEach(db, "subscriptions", { businessId }, "payable_id", payableIds);
}

/** Moves a subscription to another owner; false if the payable has none. */
export async function moveSubscription(
  db: Db,
  move: { readonly businessId: string; readonly payableId: string; readonly owner: string },
): Promise<boolean> {
  const { businessId, payableId, owner } = move;
  return (await changeRecords(db, "subscriptions", { businessId, payableId }, { owner })) > 0;
}

/**
 * Extends a subscription at least until an instant of the business clock: something is paid again.
 */
export async function extendSubscription(
  db: Db,
  subscription: {
    readonly businessId: string;
    readonly payableId: string;
    readonly untilMs: number;
  },
): Promise<void> {
  const untilMs = Math.ceil(subscription.untilMs);
  await db
    .updateTable("subscriptions")
    .set({ until_ms: untilMs })
    .where("business_id", "=", subscription.businessId)
    .where("payable_id", "=", subscription.payableId)
    .where("until_ms", "<", untilMs)
    .execute();
}

/**
 * Flags these payables for their owners to look at, in the run's line and in the retry.
 *
 * The flag stays until its reader clears it, so that a lost signal costs time only.
 */
export async function flagLooks(
  trx: Transaction<Tables>,
  look: { readonly businessId: string; readonly payableIds: readonly string[] },
): Promise<void> {
  for (const ids of chunks(look.payableIds)) {
    await trx
      .updateTable("run_lines")
      .set({ look: 1 })
      .where("business_id", "=", look.businessId)
      .where("payable_id", "in", ids)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom("subscriptions")
            .select("subscriptions.owner")
            .whereRef("subscriptions.business_id", "=", "run_lines.business_id")
            .whereRef("subscriptions.payable_id", "=", "run_lines.payable_id")
            .whereRef("subscriptions.owner", "=", "run_lines.run_id"),
        ),
      )
      .execute();
    await trx
      .updateTable("retries")
      .set({ look: 1 })
      .where("business_id", "=", look.businessId)
      .where("payable_id", "in", ids)
      .execute();
  }
}

/** Deletes subscriptions whose time is over. */
export async function pruneSubscriptions(
  db: Db,
  businessId: string,
  businessNowMs: number,
): Promise<number> {
  const result = await db
    .deleteFrom("subscriptions")
    .where("business_id", "=", businessId)
    .where("until_ms", "<", businessNowMs)
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Returns the payables of these vendors that have a subscription, by vendor. */
export async function subscribedPayablesOfContacts(
  db: Db,
  businessId: string,
  contactIds: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (contactIds.length === 0) return found;
  const rows = await db
    .selectFrom("subscriptions")
    .innerJoin("run_lines", (join) =>
      join
        .onRef("run_lines.business_id", "=", "subscriptions.business_id")
        .onRef("run_lines.payable_id", "=", "subscriptions.payable_id"),
    )
    .select(["run_lines.contact_id", "subscriptions.payable_id"])
    .distinct()
    .where("run_lines.business_id", "=", businessId)
    .where("run_lines.contact_id", "in", contactIds)
    .execute();
  for (const row of rows) {
    found.set(row.contact_id, [...(found.get(row.contact_id) ?? []), row.payable_id]);
  }
  return found;
}
