import { randomUUID } from "node:crypto";
import type { NewNotice } from "../../domain/facts/fact.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { deleteRecords, findEach, findOne } from "../sql/records.ts";
import { namedTexts } from "./named-texts.ts";

/** A notice that was raised. */
export type Notice = RecordOf<"notices">;

export const toNotice = readerOf("notices");

const SUBJECT_MAX = 200;
const TEXT_MAX = 8_000;

/**
 * Puts a notice into the outbox, in the transaction of the fact that it reports: people are
 * notified if the fact is committed, and only then.
 *
 * The caller goes on at once; the gateways deliver the notice, to the channels of the business's
 * profile.
 *
 * @returns false if the fact has been reported before
 */
export async function raiseNotice(db: Db, notice: NewNotice): Promise<boolean> {
  const raised = await insertNotice(db, notice);
  if (raised === undefined) return false;
  const { businessId, kind, together = [] } = notice;
  for (const keys of chunks(together)) {
    await db
      .insertInto("notice_facts")
      .values(keys.map((key) => ({ ...raised, business_id: businessId, kind, fact_key: key })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return true;
}

async function insertNotice(db: Db, notice: NewNotice) {
  // A notice is raised again at every look: nothing is looked up for one that was written before.
  if (await isNotified(db, notice)) return undefined;
  // A vendor's notice has the vendor's own words.
  const isOurs = notice.contactId === undefined;
  const { subject, text } = isOurs ? await namedTexts(db, notice.businessId, notice) : notice;
  return db
    .insertInto("notices")
    .values({
      notice_id: `ntc_${randomUUID()}`,
      business_id: notice.businessId,
      kind: notice.kind,
      fact_key: notice.factKey,
      run_id: notice.runId ?? null,
      subject: subject.replaceAll(/\s+/g, " ").trim().slice(0, SUBJECT_MAX),
      text: text.slice(0, TEXT_MAX),
      roles: JSON.stringify([...new Set(notice.roles)].toSorted()),
      data: JSON.stringify(notice.data),
      contact_id: notice.contactId ?? null,
      person: notice.person ?? null,
      created_at_ms: notice.nowMs,
      route_at_ms: notice.sendAtMs ?? notice.nowMs,
      route_tries: 0,
    })
    .onConflict((conflict) => conflict.columns(["business_id", "kind", "fact_key"]).doNothing())
    .returning("notice_id")
    .executeTakeFirst();
}

/** True if a fact has been reported; for callers that would have to gather much to report it. */
export async function isNotified(
  db: Db,
  fact: Pick<Notice, "businessId" | "kind" | "factKey">,
): Promise<boolean> {
  const { businessId, kind, factKey } = fact;
  return (await findOne(db, "notices", { businessId, kind, factKey })) !== undefined;
}

/** How long a notice waits for others like it, in real time. */
const GATHERS_MS = 15_000;

/**
 * Takes notices of a kind back that nobody has got yet, about a run or the whole business, so that
 * one notice can report their facts together with later ones, in the same transaction.
 *
 * @returns the notices, and when the one that replaces them is to be sent: no later than they were,
 *   so that news that keep coming don't delay it for ever
 */
export async function takeBackUnsent(
  db: Db,
  { businessId, kind, runId }: Pick<NewNotice, "businessId" | "kind" | "runId">,
  nowMs: number,
): Promise<{ readonly unsent: readonly Notice[]; readonly sendAtMs: number }> {
  let taking = db
    .deleteFrom("notices")
    .where("business_id", "=", businessId)
    .where("kind", "=", kind)
    .where("routed_at_ms", "is", null)
    .where("route_tries", "=", 0)
    .where("created_at_ms", ">", nowMs - GATHERS_MS);
  if (runId !== undefined) taking = taking.where("run_id", "=", runId);
  const unsent = (await taking.returningAll().execute()).map(toNotice);
  for (const { noticeId } of unsent) await deleteRecords(db, "notice_facts", { noticeId });
  const sendAtMs = Math.min(nowMs + GATHERS_MS, ...unsent.map(({ routeAtMs }) => routeAtMs));
  return { unsent, sendAtMs };
}

/** Returns which of these facts no notice has reported together with others (`raiseTogether`). */
export async function unreportedFacts(
  db: Db,
  fact: Pick<Notice, "businessId" | "kind">,
  factKeys: readonly string[],
): Promise<Set<string>> {
  const { businessId, kind } = fact;
  const rows = await findEach(db, "notice_facts", { businessId, kind }, "fact_key", factKeys);
  const reported = new Set(rows.map(({ factKey }) => factKey));
  return new Set(factKeys.filter((key) => !reported.has(key)));
}

/** Returns when a notice of this kind was last raised about a run; null for never. */
export async function lastRaisedMs(db: Db, runId: string, kind: string): Promise<number | null> {
  const row = await db
    .selectFrom("notices")
    .select((eb) => eb.fn.max("created_at_ms").as("at"))
    .where("run_id", "=", runId)
    .where("kind", "=", kind)
    .executeTakeFirst();
  return row?.at ?? null;
}

export interface NoticeFilter {
  readonly businessId?: string;
  readonly runId?: string;
  readonly kind?: string;
  /** True: only notices that some recipient has not got, for good or so far. */
  readonly undelivered?: boolean;
  readonly limit: number;
}

/** Returns notices, latest first. */
export async function listNotices(db: Db, filter: NoticeFilter): Promise<Notice[]> {
  let query = db.selectFrom("notices").selectAll();
  if (filter.businessId !== undefined) query = query.where("business_id", "=", filter.businessId);
  if (filter.runId !== undefined) query = query.where("run_id", "=", filter.runId);
  if (filter.kind !== undefined) query = query.where("kind", "=", filter.kind);
  if (filter.undelivered === true) {
    query = query.where((eb) =>
      eb.or([
        eb("routed_at_ms", "is", null),
        eb("route_problem", "is not", null),
        eb(
          "notice_id",
          "in",
          eb.selectFrom("notice_deliveries").select("notice_id").where("state", "!=", "sent"),
        ),
      ]),
    );
  }
  const rows = await query
    .orderBy("created_at_ms", "desc")
    .orderBy("notice_id")
    .limit(filter.limit)
    .execute();
  return rows.map(toNotice);
}

export function getNotice(db: Db, noticeId: string): Promise<Notice | undefined> {
  return findOne(db, "notices", { noticeId });
}
