import {
  type Author,
  authorOf,
  isSameAuthor,
  kindOfAuthor,
  nameOfAuthor,
  SystemAuthor,
} from "../../contracts/authors.ts";
import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { type HoldScopeName, holdsOn, kindOf } from "../../domain/holds.ts";
import { isKept, type Name } from "../../domain/names.ts";
import { holdSubject } from "../../contracts/names.ts";
import { holdCreated, holdEnded, holdReleased } from "../../domain/facts/holds.ts";
import { differenceOf } from "../audit/audit-compare.ts";
import { record } from "../facts/record.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import { namesOf } from "../names/names.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findOne } from "../sql/records.ts";
import { idsIn } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** A "not now" with an author; only that author or a person releases it. */
export type Hold = RecordOf<"holds">;

const toHold = readerOf("holds");

export interface NewHold extends Pick<Hold, "businessId" | "value" | "reason"> {
  readonly author: Author;
  readonly scope: HoldScopeName;
  /** The only roles that may release it; any operator may if this is left out. */
  readonly roles?: readonly string[];
  /** Business-clock instant of its end; it has none if this is left out. */
  readonly untilMs?: number | null;
  readonly nowMs: number;
}

/**
 * Sets a hold, in force from the commit on. The workflows that it stops are signaled then, and
 * again when it is released or ends.
 */
export async function createHold(trx: Transaction<Tables>, hold: NewHold): Promise<Hold> {
  const row = await trx
    .insertInto("holds")
    .values({
      hold_id: `hold_${randomUUID()}`,
      business_id: hold.businessId,
      scope: hold.scope,
      value: hold.scope === "all" ? "" : hold.value,
      reason: hold.reason,
      author: nameOfAuthor(hold.author),
      author_kind: kindOfAuthor(hold.author),
      roles: JSON.stringify(hold.roles ?? []),
      created_at_ms: hold.nowMs,
      until_ms: hold.untilMs ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const made = toHold(row);
  const { reason, roles, untilMs } = made;
  const until = untilMs === null ? null : new Date(untilMs).toISOString();
  const head = headOf(made, hold.author, hold.nowMs);
  await record(trx, holdCreated(head, { ...named(made), reason, roles, until }));
  return made;
}

/**
 * Sets a hold, unless its author has an equal one in force.
 *
 * @param now `sinceMs`: real instant; holds that were set before it don't count
 */
export async function holdOnce(
  trx: Transaction<Tables>,
  hold: NewHold,
  { businessMs, sinceMs = 0 }: { readonly businessMs: number; readonly sinceMs?: number },
): Promise<void> {
  const isHeld = (await activeHolds(trx, hold.businessId, businessMs)).some(
    ({ author, authorKind, scope, value, createdAtMs }) =>
      isSameAuthor(authorOf(author, authorKind), hold.author) &&
      scope === hold.scope &&
      value === hold.value &&
      createdAtMs >= sinceMs,
  );
  if (!isHeld) await createHold(trx, hold);
}

/** True if this workflow has set the hold. */
export function isSetBy(hold: Pick<Hold, "author" | "authorKind">, workflowId: string): boolean {
  return hold.authorKind === "system" && hold.author === workflowId;
}

/** Releases a hold; undefined if there is none, or if it was released before. */
export async function releaseHold(
  trx: Transaction<Tables>,
  holdId: string,
  by: Author,
  nowMs: number,
): Promise<Hold | undefined> {
  const row = await trx
    .updateTable("holds")
    .set({
      released_at_ms: nowMs,
      released_by: nameOfAuthor(by),
      released_by_kind: kindOfAuthor(by),
    })
    .where("hold_id", "=", holdId)
    .where("released_at_ms", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const lifted = toHold(row);
  await record(trx, holdReleased(headOf(lifted, by, nowMs), named(lifted)));
  return lifted;
}

/**
 * Releases the holds that the owner of a failed bill has set on its vendor or on the bill: a person
 * has decided about it, or it is about something else.
 */
export async function releaseFailureHoldsOf(
  trx: Transaction<Tables>,
  owner: { readonly businessId: string; readonly workflowId: string },
  {
    businessMs,
    nowMs,
    by,
  }: { readonly businessMs: number; readonly nowMs: number; readonly by: Author },
): Promise<void> {
  const { businessId, workflowId } = owner;
  for (const hold of await activeHolds(trx, businessId, businessMs)) {
    if (isSetBy(hold, workflowId)) await releaseHold(trx, hold.holdId, by, nowMs);
  }
}

/**
 * Records that holds have come to their end, since which they stop nothing. A hold that the trail
 * has otherwise doesn't end: its end is what its entry says.
 *
 * @returns how many
 */
export async function endHolds(
  trx: Transaction<Tables>,
  businessId: string,
  times: { readonly businessMs: number; readonly nowMs: number },
): Promise<number> {
  const over = await trx
    .selectFrom("holds")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("released_at_ms", "is", null)
    .where("until_ms", "<=", times.businessMs)
    .execute();
  let ended = 0;
  for (const hold of over.map(toHold)) {
    const { holdId, scope, value, untilMs } = hold;
    const row = { table: "holds", key: [holdId], subject: holdSubject(scope, value) } as const;
    if ((await differenceOf(trx, { businessId, business: null }, row)) !== null) continue;
    await changeRecords(
      trx,
      "holds",
      { holdId },
      {
        releasedAtMs: times.nowMs,
        releasedBy: ENDED_BY.name,
        releasedByKind: kindOfAuthor(ENDED_BY),
      },
    );
    const until = new Date(untilMs ?? 0).toISOString();
    await record(trx, holdEnded(headOf(hold, ENDED_BY, times.nowMs), { ...named(hold), until }));
    ended += 1;
  }
  return ended;
}

/** Who releases a hold that ends by itself. */
const ENDED_BY = new SystemAuthor("its end");

function headOf({ businessId, scope, value }: Hold, by: Author, nowMs: number) {
  return { businessId, nowMs, by, subject: holdSubject(scope, value) };
}

function named({ holdId, scope, value }: Hold) {
  return { holdId, scope, value };
}

/** Returns a hold, released or not. */
export function getHold(db: Db, holdId: string): Promise<Hold | undefined> {
  return findOne(db, "holds", { holdId });
}

export interface HoldFilter {
  readonly businessId?: string;
  /** True: only holds that stop something now. */
  readonly active?: boolean;
  readonly scope?: HoldScopeName | undefined;
  /** Business-clock instant that `until` is compared with. */
  readonly nowMs: number;
}

/** Returns holds, latest first. */
export async function listHolds(
  db: Db,
  filter: HoldFilter,
  page?: { readonly offset: number; readonly limit: number },
): Promise<Hold[]> {
  let query = holdsWhere(db, filter)
    .selectAll()
    .orderBy("created_at_ms", "desc")
    .orderBy("hold_id");
  if (page !== undefined) query = query.limit(page.limit).offset(page.offset);
  return (await query.execute()).map(toHold);
}

export async function countHolds(db: Db, filter: HoldFilter): Promise<number> {
  const row = await holdsWhere(db, filter)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

function holdsWhere(db: Db, filter: HoldFilter) {
  let query = db.selectFrom("holds");
  if (filter.businessId !== undefined) query = query.where("business_id", "=", filter.businessId);
  if (filter.scope !== undefined) query = query.where("scope", "=", filter.scope);
  if (filter.active === true) {
    query = query
      .where("released_at_ms", "is", null)
      .where((eb) => eb.or([eb("until_ms", "is", null), eb("until_ms", ">", filter.nowMs)]));
  }
  return query;
}

/** Returns all holds that stop something of a business now, for planning and leasing in bulk. */
export function activeHolds(db: Db, businessId: string, businessNowMs: number): Promise<Hold[]> {
  return listHolds(db, { businessId, active: true, nowMs: businessNowMs });
}

/**
 * Returns the holds that may stop one of these payables now. Of the holds on single payables, which
 * add up over the years, it reads only theirs.
 */
export async function holdsOnLines(
  db: Db,
  of: {
    readonly businessId: string;
    readonly payableIds: readonly string[];
    /** Business-clock instant. */
    readonly businessMs: number;
  },
): Promise<Hold[]> {
  const rows = await db
    .selectFrom("holds")
    .selectAll()
    .where("business_id", "=", of.businessId)
    .where("released_at_ms", "is", null)
    .where((eb) => eb.or([eb("until_ms", "is", null), eb("until_ms", ">", of.businessMs)]))
    .where((eb) => eb.or([eb("scope", "!=", "payable"), eb("value", "in", idsIn(of.payableIds))]))
    .orderBy("created_at_ms")
    .execute();
  return rows.map(toHold);
}

/** Returns the holds that stop one line now, in the order in which they were set. */
export async function activeHoldsFor(
  db: Db,
  facts: {
    readonly businessId: string;
    readonly payableId: string;
    readonly contactId: string;
    readonly sourceId: string;
    readonly runId: string;
    readonly playbook: string;
    readonly businessNowMs: number;
  },
): Promise<Hold[]> {
  const { businessId, payableId, businessNowMs: businessMs } = facts;
  const holds = await holdsOnLines(db, { businessId, payableIds: [payableId], businessMs });
  return holdsOn(holds, facts);
}

/**
 * Returns the name that people use for what each hold is on, by the hold's id, if the store has it.
 */
export async function namesOfHolds(db: Db, holds: readonly Hold[]): Promise<Map<string, Name>> {
  const called = new Map<string, Name>();
  const alike = Map.groupBy(holds, ({ businessId, scope }) => `${businessId} ${scope}`);
  for (const ofOne of alike.values()) {
    const [first] = ofOne;
    const kind = first === undefined ? null : kindOf(first.scope);
    if (first === undefined || !isKept(kind)) continue;
    const ids = ofOne.map(({ value }) => value);
    const names = await namesOf(db, first.businessId, kind, ids);
    for (const { holdId, value } of ofOne) {
      const name = names.get(value);
      if (name !== undefined) called.set(holdId, name);
    }
  }
  return called;
}
