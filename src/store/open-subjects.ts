import { type RawBuilder, sql, type SqlBool } from "kysely";
import { chunks, type Db } from "./db.ts";
import { idsIn } from "./many.ts";

/** A subject of which a send may still take effect; kept by the ledger with each of its rows. */
export interface OpenSubject {
  readonly subject: string;
  readonly operation: string;
  /** Workflow id of the last send. */
  readonly owner: string;
  /** Database clock. */
  readonly sinceMs: number;
}

/** True where a request may still pay the payable of the row: who gives it up could pay it twice. */
export function mayStillPay(table: "claims" | "run_lines"): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from open_subjects
    where open_subjects.business_id = ${sql.ref(`${table}.business_id`)}
      and open_subjects.subject = ${sql.ref(`${table}.payable_id`)})`;
}

/** Those of these subjects of which a send may still take effect. */
export async function openSubjects(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Set<string>> {
  const open = new Set<string>();
  for (const some of chunks(subjects)) {
    const rows = await db
      .selectFrom("open_subjects")
      .select("subject")
      .where("business_id", "=", businessId)
      .where("subject", "in", idsIn(some))
      .execute();
    for (const row of rows) open.add(row.subject);
  }
  return open;
}

/** All open subjects of a business, the oldest first. */
export async function listOpenSubjects(db: Db, businessId: string): Promise<OpenSubject[]> {
  const rows = await db
    .selectFrom("open_subjects")
    .selectAll()
    .where("business_id", "=", businessId)
    .orderBy("since_ms")
    .orderBy("subject")
    .execute();
  return rows.map((row) => ({
    subject: row.subject,
    operation: row.operation,
    owner: row.owner,
    sinceMs: row.since_ms,
  }));
}
