import { is } from "../sql/is-in.ts";
import type { Transaction } from "kysely";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { chunks, COUNT, type Db } from "../sql/db.ts";
import type { Tables } from "../schema/tables.ts";

/** A webhook event that was verified, or taken from the service's list of deliveries. */
export type NewInboxEvent = Omit<RecordOf<"inbox">, "dispatchedAtMs">;

export type InboxEvent = Omit<NewInboxEvent, "body">;

/**
 * Stores events, each once per business however often it is delivered. An event that the list of
 * deliveries showed before its webhook came still counts as brought by the webhook.
 *
 * When this returns they are on disk: their arrival may be acknowledged.
 *
 * @returns ids of those that were new
 */
export async function insertEvents(db: Db, events: readonly NewInboxEvent[]): Promise<string[]> {
  const added: string[] = [];
  // In the same order in every process: two processes that store the same events never deadlock.
  const inOrder = events.toSorted((one, other) => (one.eventId < other.eventId ? -1 : 1));
  for (const some of chunks(inOrder)) {
    const rows = await db
      .insertInto("inbox")
      .values(
        some.map(({ businessId, eventId, type, sequence, object, objectId, ...event }) =>
          asColumns({
            businessId,
            eventId,
            type,
            sequence,
            object,
            objectId,
            via: event.via,
            createdAt: event.createdAt,
            receivedAtMs: event.receivedAtMs,
            body: event.body,
          }),
        ),
      )
      .onConflict((conflict) => conflict.columns(["business_id", "event_id"]).doNothing())
      .returning("event_id")
      .execute();
    added.push(...rows.map((row) => row.event_id));
  }
  const isNew = new Set(added);
  const late = inOrder.filter(({ eventId, via }) => via === "webhook" && !isNew.has(eventId));
  for (const [businessId, theirs] of Map.groupBy(late, (event) => event.businessId)) {
    await broughtByWebhook(
      db,
      businessId,
      theirs.map(({ eventId }) => eventId),
    );
  }
  return added;
}

async function broughtByWebhook(
  db: Db,
  businessId: string,
  eventIds: readonly string[],
): Promise<void> {
  for (const ids of chunks(eventIds)) {
    await db
      .updateTable("inbox")
      .set({ via: "webhook" })
      .where("business_id", "=", businessId)
      .where("event_id", "in", ids)
      .where("via", "=", "deliveries")
      .execute();
  }
}

/**
 * Returns events that have not been dispatched, the longest waiting first, except those of these
 * businesses.
 */
export async function undispatched(
  db: Db,
  limit: number,
  exceptBusinessIds: readonly string[] = [],
): Promise<InboxEvent[]> {
  const rows = await db
    .selectFrom("inbox")
    .select([
      "business_id",
      "event_id",
      "type",
      "sequence",
      "object",
      "object_id",
      "created_at",
      "received_at_ms",
      "via",
    ])
    .where("dispatched_at_ms", "is", null)
    .where("business_id", "not in", exceptBusinessIds)
    .orderBy("received_at_ms")
    .orderBy("event_id")
    .limit(limit)
    .execute();
  return rows.map(readerOf("inbox"));
}

/**
 * Returns when the oldest event was received that has not been dispatched; null if there is none.
 */
export async function oldestUndispatchedMs(db: Db, businessId: string): Promise<number | null> {
  const row = await db
    .selectFrom("inbox")
    .select((eb) => eb.fn.min("received_at_ms").as("oldest"))
    .where("business_id", "=", businessId)
    .where("dispatched_at_ms", "is", null)
    .executeTakeFirst();
  return row?.oldest == null ? null : Number(row.oldest);
}

/**
 * Counts the events since an instant that no webhook has brought: the list of deliveries had them.
 */
export async function recoveredSince(db: Db, businessId: string, sinceMs: number): Promise<number> {
  const row = await db
    .selectFrom("inbox")
    .select(COUNT)
    .where("business_id", "=", businessId)
    .where("via", "=", "deliveries")
    .where("received_at_ms", ">=", sinceMs)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** True if a webhook has brought an event after an instant. */
export async function tookWebhookAfter(db: Db, businessId: string, atMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("inbox")
    .select("event_id")
    .where("business_id", "=", businessId)
    .where(is("via", "webhook"))
    .where("received_at_ms", ">", atMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Records that the subscribed workflows were signaled; only to be called after the signal
 * succeeded.
 */
export async function markDispatched(
  trx: Transaction<Tables>,
  businessId: string,
  eventIds: readonly string[],
  nowMs: number,
): Promise<void> {
  for (const ids of chunks(eventIds)) {
    await trx
      .updateTable("inbox")
      .set({ dispatched_at_ms: nowMs })
      .where("business_id", "=", businessId)
      .where("event_id", "in", ids)
      .where("dispatched_at_ms", "is", null)
      .execute();
  }
}

/** Returns which of these events are in the inbox. */
export async function knownEventIds(
  db: Db,
  businessId: string,
  eventIds: readonly string[],
): Promise<Set<string>> {
  const known = new Set<string>();
  for (const ids of chunks(eventIds)) {
    const rows = await db
      .selectFrom("inbox")
      .select("event_id")
      .where("business_id", "=", businessId)
      .where("event_id", "in", ids)
      .execute();
    for (const row of rows) known.add(row.event_id);
  }
  return known;
}

/** Counts the events that have not been dispatched. */
export async function countUndispatched(db: Db): Promise<number> {
  const row = await db
    .selectFrom("inbox")
    .select(COUNT)
    .where("dispatched_at_ms", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
