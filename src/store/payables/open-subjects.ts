import { type RawBuilder, sql, type SqlBool } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { Db } from "../sql/db.ts";
import { OPEN_RESULTS } from "../schema/ledger.ts";
import { isIn } from "../sql/is-in.ts";
import { findEach } from "../sql/records.ts";

/**
 * True if a request may still pay the payable of the row: an owner that gives it up could cause a
 * second payment.
 *
 * Everything that ends, drops, replans or releases a payable checks this (rule 11).
 */
export function rowMayStillPay(table: "claims" | "run_lines"): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from open_subjects
    where open_subjects.business_id = ${sql.ref(`${table}.business_id`)}
      and open_subjects.subject = ${sql.ref(`${table}.payable_id`)})`;
}

/** Returns which of these subjects have a send that may still take effect. */
export async function openSubjects(
  db: Db,
  businessId: string,
  subjects: readonly string[],
): Promise<Set<string>> {
  const open = await findEach(db, "open_subjects", { businessId }, "subject", subjects);
  return new Set(open.map(({ subject }) => subject));
}

/** True if a send of the subject may still take effect. */
export async function isOpenSubject(db: Db, businessId: string, subject: string): Promise<boolean> {
  return (await openSubjects(db, businessId, [subject])).has(subject);
}

/**
 * Returns payables with a request that never had an answer, if no run or retry works on them any
 * more and no lookup was made lately: by now it should be certain that the request has no effect.
 */
export async function neverAnswered(
  db: Db,
  businessId: string,
  /** Database clock. */
  since: { readonly openedMs: number; readonly lookedUpAtMs: number },
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select distinct sends.subject from sends
      join attempts on attempts.business_id = sends.business_id
        and attempts.subject = sends.subject and attempts.seq = sends.seq
        and attempts.operation = 'pay'
    where sends.business_id = ${businessId} and sends.opened_at_ms >= ${since.openedMs}
      and ${isIn("sends.result", OPEN_RESULTS)}
      and not exists (select 1 from open_subjects
        where open_subjects.business_id = sends.business_id
          and open_subjects.subject = sends.subject)
      and not exists (select 1 from run_lines
        where run_lines.business_id = sends.business_id
          and run_lines.payable_id = sends.subject
          and ${isIn("run_lines.state", LINE.lookedUp)})
      and ${notLookedUp("sends", since.lookedUpAtMs)}
    order by sends.subject
    limit ${limit}`.execute(db);
  return rows.map((row) => row.subject);
}

function notLookedUp(table: string, sinceMs: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from lookups
        where lookups.business_id = ${sql.ref(`${table}.business_id`)}
          and lookups.subject = ${sql.ref(`${table}.subject`)}
          and lookups.begun_at_ms >= ${sinceMs})`;
}

/**
 * Returns payables that a request may still pay, if no run or retry works on them and no lookup
 * was made lately.
 */
export async function leftOpen(
  db: Db,
  businessId: string,
  /** Database clock. */
  before: { readonly openedMs: number; readonly lookedUpAtMs: number },
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select subject from open_subjects
    where business_id = ${businessId} and operation = 'pay' and since_ms < ${before.openedMs}
      and not exists (select 1 from run_lines
        where run_lines.business_id = open_subjects.business_id
          and run_lines.payable_id = open_subjects.subject
          and ${isIn("run_lines.state", LINE.workedOn)})
      and ${notLookedUp("open_subjects", before.lookedUpAtMs)}
    order by since_ms, subject
    limit ${limit}`.execute(db);
  return rows.map((row) => row.subject);
}
