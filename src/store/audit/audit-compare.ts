import { crc32 } from "node:zlib";
import { sql } from "kysely";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { Db } from "../sql/db.ts";
import { type Comparison, comparisonsOf, type StoredRow, type Whose } from "./audit-comparisons.ts";
import { type Fact, type Fields, saidIn } from "./audit-said.ts";
import { rowsOf, type TrailProblem } from "./audit-trail.ts";
import { isAsWritten, listAudit, STORE_TRAIL } from "./audit.ts";
import type { Tables } from "../schema/tables.ts";

const ROWS_A_PAGE = 1_000;

/** The most facts of the trail that are in memory at once. */
const FACTS_AT_ONCE = 100_000;

/** A store that lost much must not fill the memory. */
const DIFFERENCES_MOST = 10_000;

/** Facts that are compared together: those whose subjects' hashes leave this remainder. */
interface Share {
  readonly of: number;
  readonly rest: number;
}

/**
 * Compares the store with the trail, both ways, as the table of comparisons says. A row without its
 * entry was written past Payrun; an entry without its row lost it.
 *
 * @param factsAtOnce how many facts are in memory at once: a longer trail is read several times
 */
export async function differencesOf(
  db: Db,
  whose: Whose,
  factsAtOnce = FACTS_AT_ONCE,
): Promise<TrailProblem[]> {
  const found = await compare(db, whose, factsAtOnce);
  if (found.length === 0) return [];
  // Work goes on meanwhile: only what differs twice, alike, differs.
  const again = new Set((await compare(db, whose, factsAtOnce)).map(({ text }) => text));
  return found.filter(({ text }) => again.has(text));
}

/** Rows that let their bearer act, in tables of the store's own. */
type Credential = "tokens" | "sessions" | "sign_in_links";

/** One row that something is about to follow from. */
interface AskedRow {
  readonly table: keyof Tables;
  /** The first columns of its key. */
  readonly key: readonly (string | number)[];
  /** The subject of its entries. */
  readonly subject: string;
  /** What its entries say was done; every entry of the subject is read if this is left out. */
  readonly actions?: readonly string[];
}

/**
 * True if a credential is not what the trail says of it: somebody has added it to the store's
 * tables, or changed it there. Such a credential does nothing.
 *
 * @param key of its row
 * @param subject of its entries
 */
export async function differsFromTrail(
  db: Db,
  table: Credential,
  key: string,
  subject = key,
): Promise<boolean> {
  const whose = { businessId: STORE_TRAIL, business: null };
  return (await differenceOf(db, whose, { table, key: [key], subject })) !== null;
}

/**
 * Returns how a row is not what the trail says of it: somebody has added it to the store's tables,
 * or changed it there. Nothing may follow from such a row.
 *
 * @returns null if they agree, or if there is no such row
 */
export async function differenceOf(db: Db, whose: Whose, row: AskedRow): Promise<string | null> {
  // It may be changed between the two reads: then it agrees a moment later.
  return (await rowDiffers(db, whose, row)) === null ? null : rowDiffers(db, whose, row);
}

async function rowDiffers(
  db: Db,
  whose: Whose,
  { table, key, subject, actions }: AskedRow,
): Promise<string | null> {
  const { businessId } = whose;
  const comparison = comparisonsOf(whose).get(table);
  const entries = await listAudit(db, { businessId, subject, ...definedOnly({ actions }) });
  const facts = entries.filter(isAsWritten).flatMap(({ actorKind, atMs, detailsText, ...entry }) =>
    saidIn({
      ...entry,
      actor_kind: actorKind,
      at_ms: atMs,
      details: detailsText,
      audit_id: entry.auditId,
      business_id: businessId,
      prev_hash: entry.prevHash,
    }),
  );
  if (comparison === undefined) throw new Error(`${table} is not compared with the trail`);
  const isKey = key.map((value, at) => sql`${sql.ref(comparison.key[at] ?? "")} = ${value}`);
  const { rows } = await sql<StoredRow>`select * from (${comparison.rows(whose)}) found
    where ${sql.join(isKey, sql` and `)}`.execute(db);
  const found = rows.flatMap((row) => comparison.facts(row, whose));
  const said = new Map<string, Said>();
  for (const fact of facts) {
    if (found.some(({ id }) => id === fact.id)) keep(said, fact, { of: 1, rest: 0 });
  }
  const problems = found.flatMap(({ id, fields }) => {
    const must = said.get(`${table} ${id}`);
    const row = `${table} ${id}`;
    return (must === undefined ? onlyInStore(row) : differing(row, must, fields)) ?? [];
  });
  return problems[0]?.text ?? null;
}

async function compare(db: Db, whose: Whose, factsAtOnce: number): Promise<TrailProblem[]> {
  const found: TrailProblem[] = [];
  const shares: Share[] = [{ of: 1, rest: 0 }];
  for (let share = shares.pop(); share !== undefined; share = shares.pop()) {
    for await (const problem of compareShare(db, whose, { share, shares, factsAtOnce })) {
      if (found.length >= DIFFERENCES_MOST) {
        const text = `There may be more: the comparison ended after ${DIFFERENCES_MOST} differences.`;
        return [...found, about("store", "differs", text)];
      }
      found.push(problem);
    }
  }
  return found;
}

/** What the trail says last of a row. */
interface Said {
  readonly fields: Fields;
  readonly mayBeGone: boolean;
}

/** Compares a share; if it is too large, a half of it, and leaves the other half in `shares`. */
async function* compareShare(
  db: Db,
  whose: Whose,
  work: { readonly share: Share; readonly shares: Share[]; readonly factsAtOnce: number },
): AsyncGenerator<TrailProblem> {
  const comparisons = comparisonsOf(whose);
  let { share } = work;
  const said = new Map<string, Said>();
  for await (const row of rowsOf(db, { businessId: whose.businessId })) {
    for (const fact of saidIn(row)) {
      if (comparisons.has(fact.table)) keep(said, fact, share);
    }
    while (said.size > work.factsAtOnce) {
      const { of, rest } = share;
      work.shares.push({ of: of * 2, rest: rest + of });
      share = { of: of * 2, rest };
      for (const subject of said.keys()) if (!isIn(share, subject)) said.delete(subject);
    }
  }
  for (const comparison of comparisons.values()) {
    for await (const { table, id, fields } of factsIn(db, comparison, whose)) {
      const subject = `${table} ${id}`;
      if (!isIn(share, subject)) continue;
      const must = said.get(subject);
      said.delete(subject);
      const problem = must === undefined ? onlyInStore(subject) : differing(subject, must, fields);
      if (problem !== undefined) yield problem;
    }
  }
  for (const [subject, { mayBeGone }] of said) {
    const text = `${subject} is in the trail, and the store doesn't have it.`;
    if (!mayBeGone) yield about(subject, "only-in-trail", text);
  }
}

function keep(said: Map<string, Said>, fact: Fact, share: Share): void {
  const subject = `${fact.table} ${fact.id}`;
  if (!isIn(share, subject)) return;
  const before = said.get(subject);
  if (fact.isGone === true) said.delete(subject);
  else if (before === undefined || fact.isFinal !== true) {
    const fields = { ...before?.fields, ...fact.fields };
    said.set(subject, { fields, mayBeGone: fact.mayBeGone === true });
  }
}

function isIn({ of, rest }: Share, subject: string): boolean {
  return of === 1 || crc32(subject) % of === rest;
}

function onlyInStore(subject: string): TrailProblem {
  const text = `${subject} is in the store, and the trail has no entry of it.`;
  return about(subject, "only-in-store", text);
}

function differing(subject: string, { fields: must }: Said, is: Fields): TrailProblem | undefined {
  // An entry of an earlier version may say less.
  const others = Object.keys(must).filter(
    (name) => must[name] !== undefined && JSON.stringify(must[name]) !== JSON.stringify(is[name]),
  );
  if (others.length === 0) return undefined;
  const text = `${subject} is not what the trail says: ${others.map((name) => `${name} is ${JSON.stringify(is[name])}, and was ${JSON.stringify(must[name])}`).join("; ")}.`;
  return about(subject, "differs", text);
}

function about(subject: string, kind: TrailProblem["kind"], text: string): TrailProblem {
  return { auditId: 0, at: "", action: null, subject, kind, text };
}

/** Yields the facts of a table's rows, read some at a time. */
async function* factsIn(
  db: Db,
  { rows, key, facts }: Comparison,
  whose: Whose,
): AsyncGenerator<Fact> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  for (let after = sql``; ;) {
    const { rows: page } = await sql<StoredRow>`select * from (${rows(whose)}) found ${after}
      order by ${columns} limit ${ROWS_A_PAGE}`.execute(db);
    for (const row of page) yield* facts(row, whose);
    const last = page.at(-1);
    if (last === undefined || page.length < ROWS_A_PAGE) return;
    after = sql`where (${columns}) > (${sql.join(key.map((name) => last[name]))})`;
  }
}
