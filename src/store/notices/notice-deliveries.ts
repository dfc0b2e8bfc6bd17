import { is } from "../sql/is-in.ts";
import type { Transaction } from "kysely";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { changeRecords } from "../sql/records.ts";
import { type Notice, toNotice } from "./notices.ts";
import type { Tables } from "../schema/tables.ts";

export type DeliveryState = "pending" | "sent" | "undeliverable";

/** A notice on its way to one address of one channel. */
export type NoticeDelivery = RecordOf<"notice_deliveries">;

const toDelivery = readerOf("notice_deliveries");

/** Where a notice goes. */
export interface Route {
  readonly channel: string;
  readonly target: string;
}

/**
 * Returns the notices that have not been turned into deliveries and are due for it, the oldest
 * first.
 *
 * @param to vendors' addresses are read from the service, which may take its time; people's are not
 */
export async function unrouted(
  db: Db,
  to: "people" | "vendors",
  nowMs: number,
  limit: number,
): Promise<Notice[]> {
  const rows = await db
    .selectFrom("notices")
    .selectAll()
    .where("routed_at_ms", "is", null)
    .where("contact_id", to === "people" ? "is" : "is not", null)
    .where("route_at_ms", "<=", nowMs)
    .orderBy("route_at_ms")
    .limit(limit)
    .execute();
  return rows.map(toNotice);
}

/**
 * Turns a notice into one delivery per route. Another call, by whichever process, adds nothing.
 *
 * @param problem why it reaches no one, if `routes` is empty for a reason worth showing
 */
export async function routeNotice(
  trx: Transaction<Tables>,
  notice: Notice,
  routes: readonly Route[],
  problem: string | null,
  nowMs: number,
): Promise<void> {
  const { noticeId, businessId } = notice;
  const done = await trx
    .updateTable("notices")
    .set({ routed_at_ms: nowMs, route_problem: problem })
    .where("notice_id", "=", noticeId)
    .where("routed_at_ms", "is", null)
    .returning("notice_id")
    .executeTakeFirst();
  if (done === undefined || routes.length === 0) return;
  for (const some of chunks(routes)) {
    await trx
      .insertInto("notice_deliveries")
      .values(
        some.map(({ channel, target }) =>
          asColumns({
            deliveryId: `${noticeId}/${channel}${target === "" ? "" : `/${target}`}`,
            noticeId,
            businessId,
            channel,
            target,
            createdAtMs: nowMs,
            state: "pending" satisfies DeliveryState,
            tries: 0,
            nextTryAtMs: nowMs,
            claimedUntilMs: 0,
          }),
        ),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Postpones routing until `againAtMs`, because it can't be found out now where the notice goes. */
export async function postponeRouting(
  db: Db,
  noticeId: string,
  problem: string,
  againAtMs: number,
): Promise<void> {
  await db
    .updateTable("notices")
    .set((eb) => ({
      route_at_ms: againAtMs,
      route_problem: problem,
      route_tries: eb("route_tries", "+", 1),
    }))
    .where("notice_id", "=", noticeId)
    .where("routed_at_ms", "is", null)
    .execute();
}

export interface DeliveryClaim {
  /** Names the process, and the round in it. */
  readonly holder: string;
  readonly nowMs: number;
  /** From then on, another process may try. */
  readonly untilMs: number;
  /** Channels that this process is at work on: their other deliveries wait. */
  readonly busy?: readonly Pick<NoticeDelivery, "businessId" | "channel">[];
}

/**
 * Takes deliveries that are due, so that no other process tries them meanwhile. A process that
 * froze past `untilMs` may still send: the recipient recognizes a notice by its id.
 */
export async function claimDeliveries(
  db: Db,
  claim: DeliveryClaim,
  limit: number,
): Promise<NoticeDelivery[]> {
  let isDue = db
    .selectFrom("notice_deliveries")
    .select("delivery_id")
    .where(is("state", "pending"))
    .where("next_try_at_ms", "<=", claim.nowMs)
    .where("claimed_until_ms", "<=", claim.nowMs)
    .orderBy("next_try_at_ms")
    .limit(limit);
  for (const { businessId, channel } of claim.busy ?? []) {
    isDue = isDue.where((eb) =>
      eb.or([eb("business_id", "!=", businessId), eb("channel", "!=", channel)]),
    );
  }
  // Searched first: an update locks the store's one writer even if it finds nothing.
  const due = (await isDue.execute()).map((row) => row.delivery_id);
  if (due.length === 0) return [];
  const rows = await db
    .updateTable("notice_deliveries")
    .set({ claimed_by: claim.holder, claimed_until_ms: claim.untilMs })
    .where("delivery_id", "in", due)
    .where("state", "=", "pending")
    .where("claimed_until_ms", "<=", claim.nowMs)
    .returningAll()
    .execute();
  return rows.map(toDelivery);
}

export type DeliveryResult =
  | { readonly kind: "sent" }
  | { readonly kind: "undeliverable"; readonly problem: string }
  | { readonly kind: "again"; readonly problem: string; readonly atMs: number };

/** Records how a try ended; does nothing if another process has taken the delivery meanwhile. */
export async function recordDelivery(
  db: Db,
  deliveryId: string,
  holder: string,
  result: DeliveryResult,
  nowMs: number,
): Promise<void> {
  const ended = result.kind !== "again";
  await db
    .updateTable("notice_deliveries")
    .set((eb) => ({
      state: ended ? result.kind : "pending",
      tries: eb("tries", "+", 1),
      problem: result.kind === "sent" ? null : result.problem,
      claimed_by: null,
      claimed_until_ms: 0,
      ended_at_ms: ended ? nowMs : null,
      ...(ended ? {} : { next_try_at_ms: result.atMs }),
    }))
    .where("delivery_id", "=", deliveryId)
    .where("claimed_by", "=", holder)
    .execute();
}

/** Gives back a claimed delivery that was not tried; it is due again at `dueAtMs`. */
export async function releaseDelivery(
  db: Db,
  deliveryId: string,
  holder: string,
  dueAtMs: number,
): Promise<void> {
  const claimed = { deliveryId, claimedBy: holder };
  const back = { claimedBy: null, claimedUntilMs: 0, nextTryAtMs: dueAtMs };
  await changeRecords(db, "notice_deliveries", claimed, back);
}

/**
 * Has a notice's deliveries that were given up, or that back off, tried at once. A notice that
 * reached no one is routed anew, by the profile as it is now.
 *
 * @returns how many will be tried
 */
export async function retryNotice(
  trx: Transaction<Tables>,
  noticeId: string,
  nowMs: number,
): Promise<number> {
  const rows = await trx
    .updateTable("notice_deliveries")
    .set({ state: "pending", tries: 0, next_try_at_ms: nowMs, ended_at_ms: null })
    .where("notice_id", "=", noticeId)
    .where("state", "!=", "sent")
    .returning("delivery_id")
    .execute();
  if (rows.length > 0) return rows.length;
  const anew = await trx
    .updateTable("notices")
    .set({ routed_at_ms: null, route_at_ms: nowMs, route_tries: 0, route_problem: null })
    .where("notice_id", "=", noticeId)
    .where((eb) =>
      eb.or([
        eb("route_problem", "is not", null),
        eb("routed_at_ms", "is", null),
        eb(
          "notice_id",
          "not in",
          eb.selectFrom("notice_deliveries").select("notice_id").where("notice_id", "=", noticeId),
        ),
      ]),
    )
    .returning("notice_id")
    .execute();
  return anew.length;
}

/** Returns the deliveries of some notices, by notice. */
export async function deliveriesOf(
  db: Db,
  noticeIds: readonly string[],
): Promise<Map<string, NoticeDelivery[]>> {
  const all: NoticeDelivery[] = [];
  for (const ids of chunks(noticeIds)) {
    const rows = await db
      .selectFrom("notice_deliveries")
      .selectAll()
      .where("notice_id", "in", ids)
      .orderBy("delivery_id")
      .execute();
    all.push(...rows.map(toDelivery));
  }
  return Map.groupBy(all, (delivery) => delivery.noticeId);
}

/** What is wrong with deliveries, in figures. */
export interface UndeliveredCounts {
  /** Deliveries that were given up. */
  readonly undeliverable: number;
  /** Deliveries that failed so far and are tried again. */
  readonly retrying: number;
  /** Notices that no channel takes, or whose addresses can't be read. */
  readonly unrouted: number;
}

/** @param runId only notices about this run; by default all */
export async function countUndelivered(db: Db, runId?: string): Promise<UndeliveredCounts> {
  let deliveries = db
    .selectFrom("notice_deliveries")
    .select((eb) => ["state", eb.fn.countAll<number>().as("count")])
    .where((eb) =>
      eb.or([
        eb("state", "=", "undeliverable"),
        eb.and([eb("state", "=", "pending"), eb("tries", ">", 0)]),
      ]),
    )
    .groupBy("state");
  let notices = db
    .selectFrom("notices")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("route_problem", "is not", null);
  if (runId !== undefined) {
    deliveries = deliveries.where("notice_id", "in", (eb) =>
      eb.selectFrom("notices").select("notice_id").where("run_id", "=", runId),
    );
    notices = notices.where("run_id", "=", runId);
  }
  const byState = new Map(
    (await deliveries.execute()).map((row) => [row.state, Number(row.count)]),
  );
  const unroutedRow = await notices.executeTakeFirstOrThrow();
  return {
    undeliverable: byState.get("undeliverable") ?? 0,
    retrying: byState.get("pending") ?? 0,
    unrouted: Number(unroutedRow.count),
  };
}
