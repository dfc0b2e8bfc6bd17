import { sql } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import type { ReviewReason } from "../../contracts/playbook.ts";
import { addDays } from "../../domain/clock/dates.ts";
import { weekOf } from "../../domain/clock/new-york.ts";
import type { LastSentLine } from "../../domain/planning/grown.ts";
import type { KnownAccount } from "../../domain/planning/known-accounts.ts";
import { vendorWeek, type WeekUse } from "../../domain/planning/limits.ts";
import { SPLIT_DAYS } from "../../domain/planning/splits.ts";
import type { SummedLine } from "../../domain/planning/vendor-sums.ts";
import { toRunLine } from "../lines/lines.ts";
import { chunks, type Db, sumOfCents } from "../sql/db.ts";
import { getLinesOfPayables } from "../lines/plan-lines.ts";
import { type ExceptLines, isCounted } from "../lines/reserved.ts";
import { idsIn, rowsAs } from "../sql/rows-as.ts";

/** States whose money counts against a weekly limit: paid, or possibly paid. */
const COMMITTED = [...LINE.leased, ...LINE.committed];

/**
 * Sums what runs of the business have committed per week, from the week of `today` on.
 *
 * @param business.partsOf the bills whose earlier parts are summed too
 */
export async function weekUse(
  db: Db,
  business: ExceptLines & {
    readonly businessId: string;
    readonly today: string;
    readonly partsOf?: readonly string[];
  },
): Promise<WeekUse> {
  const committed = db
    .selectFrom("run_lines")
    .where("business_id", "=", business.businessId)
    .where(isCounted(business))
    .where("execution_date", ">=", weekOf(business.today).monday)
    .where("state", "in", COMMITTED);
  const rows = await committed
    .select(["contact_id", "execution_date", sumOfCents("amount_cents").as("cents")])
    .groupBy(["contact_id", "execution_date"])
    .execute();
  const partCents = new Map<string, number>();
  for (const ids of chunks(business.partsOf ?? [])) {
    const parts = await committed
      .select(["payable_id", "execution_date", "amount_cents"])
      .where("payable_id", "in", idsIn(ids))
      .execute();
    for (const part of parts) {
      const key = vendorWeek(part.payable_id, weekOf(part.execution_date).monday);
      partCents.set(key, (partCents.get(key) ?? 0) + part.amount_cents);
    }
  }
  const businessCents = new Map<string, number>();
  const vendorCents = new Map<string, number>();
  for (const row of rows) {
    const { monday } = weekOf(row.execution_date);
    const key = vendorWeek(row.contact_id, monday);
    const cents = Number(row.cents);
    businessCents.set(monday, (businessCents.get(monday) ?? 0) + cents);
    vendorCents.set(key, (vendorCents.get(key) ?? 0) + cents);
  }
  return { businessCents, vendorCents, partCents };
}

/**
 * Returns what other runs pay or paid lately, for the review of payments that were split; nothing
 * unless a playbook names that review.
 */
export async function nearLines(
  db: Db,
  business: ExceptLines & { readonly businessId: string; readonly today: string },
  review: readonly ReviewReason[],
): Promise<SummedLine[]> {
  if (!review.includes("split-below-limit")) return [];
  const rows = await db
    .selectFrom("run_lines")
    .select(["payable_id", "contact_id", "amount_cents", "execution_date"])
    .where("business_id", "=", business.businessId)
    .where(isCounted(business))
    .where("execution_date", ">=", addDays(business.today, -SPLIT_DAYS))
    .where("state", "in", [...COMMITTED, ...LINE.decidable])
    .execute();
  return rows.map(toRunLine);
}

/** A settled line: the account that its payments went to, and what they were. */
export interface SettledLine extends KnownAccount {
  readonly payableId: string;
  readonly paymentIds: readonly string[];
}

/**
 * Returns the account that a run's payment to each of these vendors proved last.
 *
 * @param isProof true for a line whose payments have proved the account
 */
export async function knownAccounts(
  db: Db,
  businessId: string,
  contactIds: Iterable<string>,
  isProof: (line: SettledLine) => boolean,
): Promise<Map<string, KnownAccount>> {
  const found = new Map<string, KnownAccount>();
  const tooNew: string[] = [];
  for (const some of chunks([...new Set(contactIds)])) {
    const vendors = rowsAs(
      "vendors",
      "run_lines",
      some.map((contactId) => ({ businessId, contactId })),
    );
    const { rows } = await sql<{ id: string; line: string | null }>`
      select vendors.contact_id as id, (
        select run_lines.payment_ids || '\n' || plan_lines.line from ${SETTLED_LINES}
          where run_lines.business_id = vendors.business_id
            and run_lines.contact_id = vendors.contact_id
            and run_lines.state = 'settled'
          ${NEWEST_FIRST}
          limit 1
      ) as line
      from ${vendors}`.execute(db);
    for (const { id, line } of rows) {
      if (line === null) continue;
      const settled = settledLine(line);
      if (isProof(settled)) found.set(id, settled);
      else tooNew.push(id);
    }
  }
  // Only vendors paid in the last days: an older payment may have proved their account.
  for (const contactId of tooNew) {
    const { rows } = await sql<{ line: string }>`
      select run_lines.payment_ids || '\n' || plan_lines.line as line from ${SETTLED_LINES}
        where run_lines.business_id = ${businessId} and run_lines.contact_id = ${contactId}
          and run_lines.state = 'settled'
        ${NEWEST_FIRST}`.execute(db);
    const proof = rows.map(({ line }) => settledLine(line)).find(isProof);
    if (proof !== undefined) found.set(contactId, proof);
  }
  return found;
}

const SETTLED_LINES = sql`run_lines
  join plan_lines on plan_lines.run_id = run_lines.run_id
    and plan_lines.payable_id = run_lines.payable_id
    and plan_lines.version = run_lines.version`;

const NEWEST_FIRST = sql`order by run_lines.execution_date desc, run_lines.updated_at_ms desc`;

function settledLine(row: string): SettledLine {
  const end = row.indexOf("\n");
  const { payableId, bankLast4, record } = JSON.parse(row.slice(end)) as PlanLine;
  const paymentIds = JSON.parse(row.slice(0, end)) as readonly string[];
  return { payableId, bankLast4, record, paymentIds };
}

/** Returns the lines by which runs last sent a payment of each of these bills. */
export async function lastSent(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Map<string, LastSentLine>> {
  const found = new Map<string, LastSentLine>();
  for (const some of chunks(payableIds)) {
    const lines = await getLinesOfPayables(db, businessId, some);
    const sent = lines
      .filter(({ line }) => line.paymentIds.length > 0)
      .toSorted(
        ({ line: one }, { line: other }) =>
          one.executionDate.localeCompare(other.executionDate) ||
          one.updatedAtMs - other.updatedAtMs,
      );
    for (const { plan } of sent) {
      const { bankLast4, totalCents } = plan;
      found.set(plan.payableId, { bankLast4, totalCents });
    }
  }
  return found;
}
