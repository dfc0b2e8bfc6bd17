import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import { canonicalJson, type CanonicalValue } from "../domain/canonical-json.ts";
import { chunks, type Db } from "./db.ts";
import type { Tables } from "./tables.ts";

/** What the first entry of a business follows. */
export const GENESIS = "0".repeat(64);

export interface AuditEntry {
  readonly auditId: number;
  readonly businessId: string;
  readonly atMs: number;
  /** A person's or token's name, or a workflow id. */
  readonly actor: string;
  readonly action: string;
  /** What it was done to: a run, payable, hold, token … by its id. */
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly prevHash: string;
  readonly hash: string;
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

/**
 * Adds an entry to a business's trail, in the transaction of what it records.
 *
 * Each entry's hash is over its content and the hash before it, so that nothing in the middle can
 * be changed or taken out unseen.
 *
 * @returns the new head of the trail
 */
export async function appendAudit(trx: Transaction<Tables>, entry: NewAuditEntry): Promise<string> {
  return appendAuditEntries(trx, entry.businessId, [entry]);
}

/**
 * Adds many entries of one business in order, in few statements; see `appendAudit`.
 *
 * @returns the new head of the trail
 */
export async function appendAuditEntries(
  trx: Transaction<Tables>,
  businessId: string,
  entries: readonly Omit<NewAuditEntry, "businessId">[],
): Promise<string> {
  let prevHash = (await endOfTrail(trx, businessId)) ?? GENESIS;
  const rows = entries.map((entry) => {
    const details = JSON.stringify(entry.details);
    const hash = auditHash({ ...entry, businessId }, details, prevHash);
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
  return prevHash;
}

/** The hash of a business's last entry; undefined where it has none yet. */
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
 * The hash of an entry: over its content and the hash of the entry before it.
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

/** Entries of a business, first to last. */
export async function listAudit(
  db: Db,
  filter: { readonly businessId: string; readonly subject?: string },
): Promise<AuditEntry[]> {
  let query = db.selectFrom("audit").selectAll().where("business_id", "=", filter.businessId);
  if (filter.subject !== undefined) query = query.where("subject", "=", filter.subject);
  const rows = await query.orderBy("audit_id").execute();
  return rows.map((row) => ({
    auditId: row.audit_id,
    businessId: row.business_id,
    atMs: row.at_ms,
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    details: JSON.parse(row.details) as Record<string, unknown>,
    prevHash: row.prev_hash,
    hash: row.hash,
  }));
}
