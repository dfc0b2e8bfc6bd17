import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { type HoldScopeName, holdsOn, kindOf } from "../../domain/holds.ts";
import { isKept, type Name } from "../../domain/names.ts";
import { appendAudit } from "../audit/audit.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import { namesOf } from "../names/names.ts";
import type { Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";
import { idsIn } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";
import { signalOnCommit } from "../signals/pending-signals.ts";

/** A "not now" that somebody set, and that only they or a person lift. */
export type Hold = RecordOf<"holds">;

const toHold = readerOf("holds");

export interface NewHold extends Pick<Hold, "businessId" | "value" | "reason" | "author"> {
  readonly scope: HoldScopeName;
  /** Roles that alone may lift it; whoever operates where this is left out. */
  readonly roles?: readonly string[];
  /** Business-clock instant; it has no end where this is left out. */
  readonly untilMs?: number | null;
  readonly nowMs: number;
}

/** Sets a hold, in force from the commit on; whoever it stops, or sets free later, is told. */
export async function createHold(trx: Transaction<Tables>, hold: NewHold): Promise<Hold> {
  const row = await trx
    .insertInto("holds")
    .values({
      hold_id: `hold_${randomUUID()}`,
      business_id: hold.businessId,
      scope: hold.scope,
      value: hold.scope === "all" ? "" : hold.value,
      reason: hold.reason,
      author: hold.author,
      roles: JSON.stringify(hold.roles ?? []),
      created_at_ms: hold.nowMs,
      until_ms: hold.untilMs ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const made = toHold(row);
  const { reason, untilMs } = made;
  await note(trx, made, "hold.created", {
    nowMs: hold.nowMs,
    actor: hold.author,
    details: { reason, until: untilMs === null ? null : new Date(untilMs).toISOString() },
  });
  return made;
}

/**
 * Sets a hold, unless its author has one like it in force.
 *
 * @param now `sinceMs`: real instant; what was set before doesn't count
 */
export async function holdOnce(
  trx: Transaction<Tables>,
  hold: NewHold,
  { businessMs, sinceMs = 0 }: { readonly businessMs: number; readonly sinceMs?: number },
): Promise<void> {
  const isHeld = (await activeHolds(trx, hold.businessId, businessMs)).some(
    ({ author, scope, value, createdAtMs }) =>
      author === hold.author &&
      scope === hold.scope &&
      value === hold.value &&
      createdAtMs >= sinceMs,
  );
  if (!isHeld) await createHold(trx, hold);
}

/** Lifts a hold; undefined where there is none, or it has been lifted before. */
export async function releaseHold(
  trx: Transaction<Tables>,
  holdId: string,
  by: string,
  nowMs: number,
): Promise<Hold | undefined> {
  const row = await trx
    .updateTable("holds")
    .set({ released_at_ms: nowMs, released_by: by })
    .where("hold_id", "=", holdId)
    .where("released_at_ms", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const lifted = toHold(row);
  await note(trx, lifted, "hold.released", { nowMs, actor: by, details: {} });
  return lifted;
}

/** Lifts what the owner of a failed bill has held its vendor with: a person has decided about it. */
export async function releaseVendorHoldsOf(
  trx: Transaction<Tables>,
  owner: { readonly businessId: string; readonly workflowId: string },
  {
    businessMs,
    nowMs,
    by,
  }: { readonly businessMs: number; readonly nowMs: number; readonly by: string },
): Promise<void> {
  const { businessId, workflowId } = owner;
  for (const { holdId, author, scope } of await activeHolds(trx, businessId, businessMs)) {
    if (author === workflowId && scope === "contact") await releaseHold(trx, holdId, by, nowMs);
  }
}

/**
 * Takes note of holds whose end has come: they stop nothing any more since then.
 *
 * @returns how many
 */
export async function endHolds(
  trx: Transaction<Tables>,
  businessId: string,
  times: { readonly businessMs: number; readonly nowMs: number },
): Promise<number> {
  const rows = await trx
    .updateTable("holds")
    .set({ released_at_ms: times.nowMs, released_by: ENDED_BY })
    .where("business_id", "=", businessId)
    .where("released_at_ms", "is", null)
    .where("until_ms", "<=", times.businessMs)
    .returningAll()
    .execute();
  for (const row of rows) {
    await note(trx, toHold(row), "hold.ended", {
      nowMs: times.nowMs,
      actor: ENDED_BY,
      details: { until: new Date(row.until_ms ?? 0).toISOString() },
    });
  }
  return rows.length;
}

/** Who lifts a hold that nobody lifts. */
const ENDED_BY = "its end";

async function note(
  trx: Transaction<Tables>,
  { businessId, holdId, scope, value }: Hold,
  action: "hold.created" | "hold.released" | "hold.ended",
  entry: {
    readonly nowMs: number;
    readonly actor: string;
    readonly details: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  const details = { scope, value, ...entry.details };
  await appendAudit(trx, { ...entry, businessId, action, subject: holdId, details });
  signalOnCommit(trx, businessId, { kind: "hold", holdId, scope, value });
}

/** A hold, lifted or not. */
export function getHold(db: Db, holdId: string): Promise<Hold | undefined> {
  return findOne(db, "holds", { holdId });
}

export interface HoldFilter {
  readonly businessId?: string;
  /** True: only those that stop something now. */
  readonly active?: boolean;
  readonly scope?: HoldScopeName | undefined;
  /** Business-clock instant that `until` is compared with. */
  readonly nowMs: number;
}

/** Holds, latest first. */
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

/** Everything that stops something of a business now: for planning and leasing in bulk. */
export function activeHolds(db: Db, businessId: string, businessNowMs: number): Promise<Hold[]> {
  return listHolds(db, { businessId, active: true, nowMs: businessNowMs });
}

/**
 * The holds that may stop one of these payables now: of those on single payables, which add up over
 * the years, only theirs.
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

/** The holds that stop one line now, the first that was set first. */
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

/** What people call what each hold is on, by the hold's id, where the store keeps its name. */
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
