import {
  type Author,
  type AuthorKind,
  kindOfAuthor,
  nameOfAuthor,
} from "../../contracts/authors.ts";
import { createHash } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { canonicalJson, type CanonicalValue } from "../../domain/canonical-json.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";
import { idsIn } from "../sql/rows-as.ts";
import type { Row, Tables } from "../schema/tables.ts";

/** The hash that the first entry of a business follows. */
export const GENESIS = "0".repeat(64);

/**
 * Stands for a business in the trail of what belongs to none: the tokens and sessions of the
 * store's gateways.
 */
export const STORE_TRAIL = "payrun:store";

/** The action of an entry about the lines that an approval counts for. */
export const APPROVAL_GIVEN = "approval.given";

export interface AuditEntry extends RecordOf<"audit"> {
  /** The JSON text of the details, which is what is hashed. */
  readonly detailsText: string;
}

export interface NewAuditEntry {
  readonly businessId: string;
  readonly nowMs: number;
  readonly actor: Author;
  readonly action: string;
  readonly subject: string;
  /** JSON-safe; never a token, an account number or other secrets. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What the hash of an entry covers, besides its details and the hash before it. */
export interface HashedEntry extends Omit<NewAuditEntry, "actor" | "details"> {
  readonly actor: string;
  readonly actorKind: AuthorKind;
}

/** Entries of the transactions that are under way. */
const written = new WeakMap<Db, NewAuditEntry[]>();

/**
 * Adds an entry to a business's trail, in the transaction of what it records: the entry is
 * committed with it, or not at all.
 *
 * Each entry's hash covers its content and the hash before it, so that nothing in the middle can be
 * changed or taken out unnoticed. A transaction's entries are chained together at its end.
 */
export function appendAudit(trx: Db, entry: NewAuditEntry): Promise<void> {
  return appendAuditEntries(trx, [entry]);
}

/** Adds many entries in order; see `appendAudit`. */
export function appendAuditEntries(trx: Db, entries: readonly NewAuditEntry[]): Promise<void> {
  const all = written.get(trx);
  if (all === undefined) throw new Error("audit entries belong in a transaction of the store");
  for (const entry of entries) all.push(entry);
  return Promise.resolve();
}

/** Does the work of a transaction, and adds its entries to their trails before it commits. */
export async function withTrail<T>(
  trx: Transaction<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const entries: NewAuditEntry[] = [];
  written.set(trx, entries);
  try {
    const result = await work(trx);
    for (const [businessId, ofOne] of Map.groupBy(entries, (entry) => entry.businessId)) {
      await lengthen(trx, businessId, ofOne);
    }
    return result;
  } finally {
    written.delete(trx);
  }
}

async function lengthen(
  trx: Transaction<Tables>,
  businessId: string,
  entries: readonly NewAuditEntry[],
): Promise<void> {
  let prevHash =
    (await notedEnd(trx, businessId)) ?? (await endOfTrail(trx, businessId)) ?? GENESIS;
  const rows = entries.map((entry) => {
    const kept = asKept(entry);
    const details = JSON.stringify(entry.details);
    const hash = auditHash(kept, details, prevHash);
    const row = {
      business_id: businessId,
      at_ms: kept.nowMs,
      actor: kept.actor,
      actor_kind: kept.actorKind,
      action: kept.action,
      subject: kept.subject,
      details,
      prev_hash: prevHash,
      hash,
    };
    prevHash = hash;
    return row;
  });
  for (const some of chunks(rows)) await trx.insertInto("audit").values(some).execute();
}

/** Returns the entry as every database stores it, so that what is hashed is what is read again. */
function asKept(entry: NewAuditEntry): HashedEntry {
  return {
    businessId: entry.businessId,
    nowMs: Math.floor(entry.nowMs),
    actor: asKeptText(nameOfAuthor(entry.actor)),
    actorKind: kindOfAuthor(entry.actor),
    action: asKeptText(entry.action),
    subject: asKeptText(entry.subject),
  };
}

function asKeptText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

/**
 * Returns what the database has recorded as the end of the trail. If that entry is gone, the next
 * one follows it all the same, so that the gap stays.
 */
async function notedEnd(db: Db, businessId: string): Promise<string | undefined> {
  return (await findOne(db, "audit_ends", { businessId }))?.hash;
}

/** The end of a trail, to be kept elsewhere. */
export interface TrailEnd {
  readonly entries: number;
  readonly hash: string;
  /** Real time of the last entry. */
  readonly atMs: number;
}

/** Returns the end of a business's trail, as the database has recorded it; undefined for none. */
export async function recordedEnd(db: Db, businessId: string): Promise<TrailEnd | undefined> {
  const end = await findOne(db, "audit_ends", { businessId });
  if (end === undefined) return undefined;
  const { entries, hash } = end;
  const last = await db
    .selectFrom("audit")
    .select("at_ms")
    .where("business_id", "=", businessId)
    .orderBy("audit_id", "desc")
    .limit(1)
    .executeTakeFirst();
  return { entries, hash, atMs: last?.at_ms ?? 0 };
}

/** Returns the hash of a business's last entry; undefined if it has none yet. */
export async function endOfTrail(db: Db, businessId: string): Promise<string | undefined> {
  const last = await db
    .selectFrom("audit")
    .select("hash")
    .where("business_id", "=", businessId)
    .orderBy("audit_id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.hash;
}

/**
 * Returns the hash of an entry, over its content and the hash of the entry before it.
 *
 * @param details the JSON text, exactly as it is stored
 */
export function auditHash(entry: HashedEntry, details: string, prevHash: string): string {
  const content: CanonicalValue = {
    v: "audit-1",
    prevHash,
    businessId: entry.businessId,
    atMs: entry.nowMs,
    actor: entry.actor,
    actorKind: entry.actorKind,
    action: entry.action,
    subject: entry.subject,
    // As text: what is stored is what is hashed.
    details,
  };
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

/**
 * True if an entry's content gives its hash. Hundreds of lines share an entry, and the gate reads it
 * for each page of them: the same content is hashed and parsed once.
 */
export function isAsWritten(entry: AuditEntry): boolean {
  const same = hashed.get(entry.hash);
  if (same !== undefined && HASHED.every((field) => same[field] === entry[field])) return true;
  const content = { ...entry, nowMs: entry.atMs };
  const isSo = auditHash(content, entry.detailsText, entry.prevHash) === entry.hash;
  if (isSo) hashed.set(entry.hash, entry);
  const oldest = hashed.keys().next();
  if (hashed.size > HASHED_MOST && !oldest.done) hashed.delete(oldest.value);
  return isSo;
}

/** Entries whose content gave their hash, by it. */
const hashed = new Map<string, AuditEntry>();
const HASHED_MOST = 64;

/** All that the hash covers. */
const HASHED = [
  ...(["prevHash", "businessId", "atMs", "actor", "actorKind"] as const),
  ...(["action", "subject", "detailsText"] as const),
] as const;

const toRecord = readerOf("audit");

/** Returns entries of a business, first to last. */
export async function listAudit(
  db: Db,
  filter: {
    readonly businessId: string;
    readonly subject?: string | readonly string[];
    readonly actions?: readonly string[];
  },
): Promise<AuditEntry[]> {
  let query = db.selectFrom("audit").selectAll().where("business_id", "=", filter.businessId);
  const subjects = filter.subject === undefined ? undefined : [filter.subject].flat();
  if (subjects?.length === 0) return [];
  // As one value: the gate asks about hundreds.
  if (subjects !== undefined) query = query.where("subject", "in", idsIn(subjects));
  if (filter.actions !== undefined) query = query.where("action", "in", filter.actions);
  // Ordered by an expression: otherwise SQLite would read the whole trail to avoid a sort.
  const rows = await query.orderBy(subjects ? sql`+audit_id` : "audit_id").execute();
  return rows.map(toEntry);
}

function toEntry({ details: detailsText, ...row }: Row<"audit">): AuditEntry {
  const same = hashed.get(row.hash);
  const details =
    same?.detailsText === detailsText
      ? same.details
      : (JSON.parse(detailsText) as AuditEntry["details"]);
  return { ...toRecord(row), details, detailsText };
}
