import { sql } from "kysely";
import type { LineState, PlanLine } from "../src/contracts/pay-run.ts";
import { weekOf } from "../src/domain/clock/new-york.ts";
import { vendorWeek, type WeekUse } from "../src/domain/planning/limits.ts";
import type { Db } from "../src/store/db.ts";

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

/** States that say that a vendor was paid, or is being paid, to the account of the line. */
const PAID: readonly LineState[] = ["scheduled", "processing", "held", "settled"];

/** What other runs of the business have committed, from the week of `today` on. */
export async function weekUse(
  db: Db,
  business: { readonly businessId: string; readonly exceptRunId: string; readonly today: string },
): Promise<WeekUse> {
  const rows = await db
    .selectFrom("run_lines")
    .select((eb) => ["contact_id", "execution_date", eb.fn.sum<number>("amount_cents").as("cents")])
    .where("business_id", "=", business.businessId)
    .where("run_id", "!=", business.exceptRunId)
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

/** Last four digits of the account that each vendor was last paid to from here. */
export async function lastPaidTo(db: Db, businessId: string): Promise<Map<string, string | null>> {
  const paid = db
    .selectFrom("run_lines")
    .where("business_id", "=", businessId)
    .where("state", "in", PAID);
  const latest = paid
    .select((eb) => ["contact_id", eb.fn.max("execution_date").as("execution_date")])
    .groupBy("contact_id");
  const rows = await db
    .selectFrom("run_lines as lines")
    .innerJoin(latest.as("latest"), (join) =>
      join
        .onRef("latest.contact_id", "=", "lines.contact_id")
        .onRef("latest.execution_date", "=", "lines.execution_date"),
    )
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "lines.run_id")
        .onRef("plan_lines.payable_id", "=", "lines.payable_id")
        .onRef("plan_lines.version", "=", "lines.version"),
    )
    .select(["lines.contact_id", "plan_lines.line"])
    .where("lines.business_id", "=", businessId)
    .where("lines.state", "in", PAID)
    .orderBy(sql.ref("lines.updated_at_ms"))
    .execute();
  return new Map(rows.map((row) => [row.contact_id, (JSON.parse(row.line) as PlanLine).bankLast4]));
}
