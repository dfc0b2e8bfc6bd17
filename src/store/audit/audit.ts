import { createHash } from "node:crypto";
import { sql, type Transaction } from "kysely";
import { canonicalJson, type CanonicalValue } from "../../domain/canonical-json.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** The hash that the first entry of a business follows. */
export const GENESIS = "0".repeat(64);

/**
 * Stands for a business in the trail of what belongs to none: the tokens and sessions of the
 * store's gateways.
 */
export const STORE_TRAIL = "payrun:store";

export interface AuditEntry extends RecordOf<"audit"> {
  /** The JSON text of the details, which is what is hashed. */
  readonly detailsText: string;
}

export interface NewAuditEntry {
  readonly businessId: string;
  readonly nowMs: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** JSON-safe; never a token, an account number or other secrets. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Entries of the transactions that are under way. */
const written = new WeakMap<Transaction<Tables>, NewAuditEntry[]>();

/**
 * Adds an entry to a business's trail, in the transaction of what it records: the entry is
 * committed with it, or not at all.
 *
 * Each entry's hash covers its content and the hash before it, so that nothing in the middle can be
 * changed or taken out unnoticed. A transaction's entries are chained together at its end.
 */
export function appendAudit(trx: Transaction<Tables>, entry: NewAuditEntry): Promise<void> {
  return appendAuditEntries(trx, [entry]);
}

/** Adds many entries in order; see `appendAudit`. */
export function appendAuditEntries(
  trx: Transaction<Tables>,
  entries: readonly NewAuditEntry[],
): Promise<void> {
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
  const rows = entries.map(asKept).map((entry) => {
    const details = JSON.stringify(entry.details);
    const hash = auditHash(entry, details, prevHash);
    const row = {
      business_id: businessId,
      at_ms: entry.nowMs,
      actor: entry.actor,
      action: entry.action,
      subject: entry.subject,
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
function asKept(entry: NewAuditEntry): NewAuditEntry {
  return {
    ...entry,
    nowMs: Math.floor(entry.nowMs),
    actor: asKeptText(entry.actor),
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
export function auditHash(
  entry: Omit<NewAuditEntry, "details">,
  details: string,
  prevHash: string,
): string {
  const content: CanonicalValue = {
    v: "audit-1",
    prevHash,
    businessId: entry.businessId,
    atMs: entry.nowMs,
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    // As text: what is stored is what is hashed.
    details,
  };
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

const toRecord = readerOf("audit");

/** Returns entries of a business, first to last. */
export async function listAudit(
  db: Db,
  filter: { readonly businessId: string; readonly subject?: string | readonly string[] },
): Promise<AuditEntry[]> {
  let query = db.selectFrom("audit").selectAll().where("business_id", "=", filter.businessId);
  const subjects = filter.subject === undefined ? undefined : [filter.subject].flat();
  if (subjects?.length === 0) return [];
  if (subjects !== undefined) query = query.where("subject", "in", subjects);
  // Ordered by an expression: otherwise SQLite would read the whole trail to avoid a sort.
  const rows = await query.orderBy(subjects ? sql`+audit_id` : "audit_id").execute();
  return rows.map((row) => ({ ...toRecord(row), detailsText: row.details }));
}
