import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { Db } from "./db.ts";
import { findEach } from "./records.ts";

/**
 * True where a request may still pay the payable of the row: who gives it up could pay it twice.
 *
 * Everything that ends, drops, replans or releases a payable asks this (rule 11).
 */
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
  const open = await findEach(db, "open_subjects", { businessId }, "subject", subjects);
  return new Set(open.map(({ subject }) => subject));
}

/** True where a send of the subject may still take effect. */
export async function isOpenSubject(db: Db, businessId: string, subject: string): Promise<boolean> {
  return (await openSubjects(db, businessId, [subject])).has(subject);
}

/** Payables that a request may still pay, and that nobody is at work on or has looked at lately. */
export async function leftOpen(
  db: Db,
  businessId: string,
  /** Database clock. */
  before: { readonly openedMs: number; readonly lookedAtMs: number },
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select subject from open_subjects
    where business_id = ${businessId} and operation = 'pay' and since_ms < ${before.openedMs}
      and not exists (select 1 from run_lines
        where run_lines.business_id = open_subjects.business_id
          and run_lines.payable_id = open_subjects.subject
          and run_lines.state in ('paying', 'unknown', 'retrying'))
      and not exists (select 1 from looks
        where looks.business_id = open_subjects.business_id
          and looks.subject = open_subjects.subject
          and looks.begun_at_ms >= ${before.lookedAtMs})
    order by since_ms, subject
    limit ${limit}`.execute(db);
  return rows.map((row) => row.subject);
}
