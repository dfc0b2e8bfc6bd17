import { sql } from "kysely";
import type { LineState, PlanLine } from "../../contracts/pay-run.ts";
import { weekOf } from "../../domain/clock/new-york.ts";
import { vendorWeek, type WeekUse } from "../../domain/planning/limits.ts";
import { chunks, type Db } from "../sql/db.ts";
import { getLinesOfPayables } from "../lines/plan-lines.ts";
import { type ExceptLines, isCounted } from "../lines/reserved.ts";
import { rowsAs } from "../sql/rows-as.ts";

/** States whose money counts against a weekly limit: paid, or possibly paid. */
const COMMITTED: readonly LineState[] = [
  "paying",
  "unknown",
  "scheduled",
  "held",
  "processing",
  "settled",
  "retrying",
];

/** States in which a vendor was paid, or is being paid, to the account of the line. */
const PAID: readonly LineState[] = ["scheduled", "processing", "held", "settled"];

/** Sums what runs of the business have committed per week, from the week of `today` on. */
export async function weekUse(
  db: Db,
  business: ExceptLines & { readonly businessId: string; readonly today: string },
): Promise<WeekUse> {
  const rows = await db
    .selectFrom("run_lines")
    .select((eb) => ["contact_id", "execution_date", eb.fn.sum<number>("amount_cents").as("cents")])
    .where("business_id", "=", business.businessId)
    .where(isCounted(business))
    .where("execution_date", ">=", weekOf(business.today).monday)
    .where("state", "in", COMMITTED)
    .groupBy(["contact_id", "execution_date"])
    .execute();
  const businessCents = new Map<string, number>();
  const vendorCents = new Map<string, number>();
  for (const row of rows) {
    const { monday } = weekOf(row.execution_date);
    const key = vendorWeek(row.contact_id, monday);
    const cents = Number(row.cents);
    businessCents.set(monday, (businessCents.get(monday) ?? 0) + cents);
    vendorCents.set(key, (vendorCents.get(key) ?? 0) + cents);
  }
  return { businessCents, vendorCents };
}

/** Returns the last four digits of the account that a run last paid each of these vendors to. */
export async function lastPaidTo(
  db: Db,
  businessId: string,
  contactIds: Iterable<string>,
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const some of chunks([...new Set(contactIds)])) {
    const vendors = rowsAs(
      "vendors",
      "run_lines",
      some.map((contactId) => ({ businessId, contactId })),
    );
    const { rows } = await sql<{ id: string; line: string | null }>`
      select vendors.contact_id as id, (
        select plan_lines.line from run_lines
          join plan_lines on plan_lines.run_id = run_lines.run_id
            and plan_lines.payable_id = run_lines.payable_id
            and plan_lines.version = run_lines.version
          where run_lines.business_id = vendors.business_id
            and run_lines.contact_id = vendors.contact_id
            and run_lines.state in (${sql.join(PAID)})
          order by run_lines.execution_date desc, run_lines.updated_at_ms desc
          limit 1
      ) as line
      from ${vendors}`.execute(db);
    for (const { id, line } of rows) {
      if (line !== null) found.set(id, (JSON.parse(line) as PlanLine).bankLast4);
    }
  }
  return found;
}

/**
 * Returns the last four digits of the account that a run last sent a payment of each of these bills
 * to.
 */
export async function sentTo(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const some of chunks(payableIds)) {
    const lines = await getLinesOfPayables(db, businessId, some);
    const sent = lines
      .filter(({ line }) => line.paymentIds.length > 0)
      .toSorted((one, other) => one.line.executionDate.localeCompare(other.line.executionDate));
    for (const { plan } of sent) found.set(plan.payableId, plan.bankLast4);
  }
  return found;
}
