import { sql } from "kysely";
import { cancelSubject } from "../../contracts/names.ts";
import { auditHash, GENESIS } from "./audit.ts";
import { businessesWithFacts, newestFact } from "./audit-facts.ts";
import type { Db } from "../sql/db.ts";
import { findOne } from "../sql/records.ts";
import type { Row } from "../schema/tables.ts";

const ROWS_A_PAGE = 1_000;
/** One tampered entry is proof enough; a broken trail must not fill the screen. */
const PROBLEMS_MAX = 20;

export type AuditRow = Row<"audit">;

export interface TrailProblem {
  readonly auditId: number;
  /** Empty if it is about no entry. */
  readonly at: string;
  readonly kind:
    | ("changed" | "missing" | "reordered" | "cut-off")
    /** The store's rows and the trail's entries differ. */
    | ("only-in-store" | "only-in-trail" | "differs");
  /** What the entry says; null if the end is missing, or if it is about a row. */
  readonly action: string | null;
  /** What it is about: the entry's subject, or the row's table and id. */
  readonly subject: string | null;
  /** What is wrong, as a sentence. */
  readonly text: string;
}

export interface VerifiedTrail {
  readonly businessId: string;
  readonly entries: number;
  /**
   * Hash of the last entry. A copy of it kept elsewhere shows later whether the end was cut off.
   */
  readonly head: string | null;
  /** In the order of the trail, at most twenty. */
  readonly problems: readonly TrailProblem[];
}

/** Returns the businesses that have a trail, or must have had one. */
export async function auditedBusinesses(db: Db): Promise<string[]> {
  const written = await db.selectFrom("audit").select("business_id").distinct().execute();
  const ended = await db.selectFrom("audit_ends").select("business_id").execute();
  const ids = [...written, ...ended].map((row) => row.business_id);
  return [...new Set([...ids, ...(await businessesWithFacts(db))])].toSorted();
}

/**
 * Recomputes a business's trail from its first entry to its last.
 *
 * Finds an entry that was changed, taken out, put in or moved, and an end that was cut off. The end
 * that the database has recorded shows the cut. If that was changed too, `heads` shows it: hashes
 * that were once the end and are known from elsewhere, with who knows them. If nothing else shows
 * it, what was launched, held or decided after the last entry does.
 */
export async function verifyTrail(
  db: Db,
  businessId: string,
  heads: ReadonlyMap<string, string> = new Map(),
): Promise<VerifiedTrail> {
  const problems: TrailProblem[] = [];
  // Before the first entry is read: other transactions may add entries meanwhile.
  const wanted = new Map([...(await notedEnd(db, businessId)), ...heads]);
  const fact = await newestFact(db, businessId);
  let entries = 0;
  let newestMs = 0;
  let head = GENESIS;
  let last: AuditRow | undefined;
  for await (const row of rowsOf(db, { businessId })) {
    entries += 1;
    const problem = (await brokenLink(db, row, head)) ?? changedEntry(row);
    if (problem !== undefined && problems.length < PROBLEMS_MAX) problems.push(problem);
    wanted.delete(row.hash);
    newestMs = Math.max(newestMs, row.at_ms);
    head = row.hash;
    last = row;
  }
  const cutOff = `entries were cut off ${entries === 0 ? "from its first on" : `after entry ${last?.audit_id ?? 0}`}`;
  for (const [hash, whoSaw] of wanted) {
    if (problems.length >= PROBLEMS_MAX) break;
    // The end that the database itself has recorded is restored together with the trail.
    const other = heads.has(hash) ? ", or the store was restored from a backup of before it" : "";
    const text = `${whoSaw} has seen an entry with hash ${hash}, which the trail does not have: ${cutOff}${other}.`;
    problems.push(endMissing(last, text));
  }
  if (problems.length === 0 && fact !== undefined && Math.floor(fact.atMs) > newestMs) {
    const at = new Date(fact.atMs).toISOString();
    problems.push(
      endMissing(last, `${fact.what}, at ${at}, is newer than the trail's entries: ${cutOff}.`),
    );
  }
  return { businessId, entries, head: entries === 0 ? null : head, problems };
}

/** True if the trail has an entry with this hash. */
export async function hasEntry(db: Db, businessId: string, hash: string): Promise<boolean> {
  return (await findOne(db, "audit", { businessId, hash })) !== undefined;
}

function endMissing(last: AuditRow | undefined, text: string): TrailProblem {
  const auditId = last?.audit_id ?? 0;
  return { auditId, at: isoOf(last), action: null, subject: null, kind: "cut-off", text };
}

async function notedEnd(db: Db, businessId: string): Promise<readonly [string, string][]> {
  const end = await findOne(db, "audit_ends", { businessId });
  return end === undefined ? [] : [[end.hash, `The store, at its ${end.entries} entries,`]];
}

async function brokenLink(db: Db, row: AuditRow, head: string): Promise<TrailProblem | undefined> {
  if (row.prev_hash === head) return undefined;
  const { business_id: businessId, prev_hash: hash } = row;
  const follows = await findOne(db, "audit", { businessId, hash });
  const facts = placeOf(row);
  if (follows === undefined && row.prev_hash !== GENESIS) {
    return {
      ...facts,
      kind: "missing",
      text: `Entry ${row.audit_id} follows an entry that is not there: one or more before it were taken out or changed.`,
    };
  }
  return {
    ...facts,
    kind: "reordered",
    text: `Entry ${row.audit_id} stands after another entry than the one it was written after.`,
  };
}

function changedEntry(row: AuditRow): TrailProblem | undefined {
  const content = {
    businessId: row.business_id,
    nowMs: row.at_ms,
    actor: row.actor,
    actorKind: row.actor_kind,
    action: row.action,
    subject: row.subject,
  };
  if (auditHash(content, row.details, row.prev_hash) === row.hash) return undefined;
  return {
    ...placeOf(row),
    kind: "changed",
    text: `Entry ${row.audit_id} is not what was written: its content does not give its hash.`,
  };
}

function placeOf(row: AuditRow) {
  const { audit_id: auditId, action, subject } = row;
  return { auditId, at: isoOf(row), action, subject };
}

export interface TrailFilter {
  readonly businessId: string;
  /** Real instant, inclusive. */
  readonly sinceMs?: number | undefined;
  /**
   * Only entries about the run itself, the bills of its plan, cancels of their payments, its
   * deposits.
   */
  readonly runId?: string | undefined;
}

/**
 * Yields a business's entries, first to last, read by page: a trail of any length fits into memory.
 */
export async function* rowsOf(
  db: Db,
  { businessId, sinceMs, runId }: TrailFilter,
): AsyncGenerator<AuditRow> {
  for (let after = 0; ;) {
    let query = db
      .selectFrom("audit")
      .selectAll()
      .where("business_id", "=", businessId)
      .where("audit_id", ">", after);
    if (sinceMs !== undefined) query = query.where("at_ms", ">=", sinceMs);
    if (runId !== undefined) {
      const about = subjectsOf(db, runId);
      query = query.where((eb) =>
        eb.or([eb("subject", "=", runId), eb("actor", "=", runId), eb("subject", "in", about)]),
      );
    }
    const rows = await query.orderBy("audit_id").limit(ROWS_A_PAGE).execute();
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_A_PAGE) return;
    after = last.audit_id;
  }
}

/** Selects the subjects of entries that belong to a run and don't name it. */
function subjectsOf(db: Db, runId: string) {
  const cancelled = db
    .selectFrom("cancellation_items as item")
    .innerJoin("run_lines as line", (join) =>
      join
        .onRef("line.business_id", "=", "item.business_id")
        .onRef("line.payable_id", "=", "item.payable_id"),
    )
    .where("line.run_id", "=", runId)
    .where("item.payment_id", "is not", null);
  const deposits = db.selectFrom("top_ups").where("owner", "=", runId);
  return db
    .selectFrom("run_lines")
    .select("payable_id as subject")
    .where("run_id", "=", runId)
    .union(cancelled.select(sql<string>`item.payment_id`.as("subject")))
    .union(cancelled.select(sql<string>`${cancelSubject("")} || item.payment_id`.as("subject")))
    .union(deposits.select("subject"));
}

function isoOf(row: AuditRow | undefined): string {
  return row === undefined ? "" : new Date(row.at_ms).toISOString();
}
