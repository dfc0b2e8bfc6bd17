import { sql } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import {
  AS_STANDS,
  IS_SPLIT,
  onlyOnItsWay,
  type SentSum,
  STANDS,
  toSentSum,
} from "./split-lines.ts";
import { IS_UNDER_WAY } from "./line-states.ts";
import { toRunLine } from "./lines.ts";
import type { PlannedLine } from "./plan-lines.ts";

/** Sums the lines of a business that the service has, or may have, by day and state. */
export async function sumsOfSent(db: Db, businessId: string): Promise<SentSum[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["execution_date", STANDS.as(AS_STANDS), IS_SPLIT.as("is_split"), COUNT, CENTS])
    .where("business_id", "=", businessId)
    .where(IS_UNDER_WAY)
    .where(STANDS, "in", [...LINE.leased, ...LINE.sent])
    .groupBy(["execution_date", sql.ref(AS_STANDS), IS_SPLIT])
    .orderBy("execution_date")
    .execute();
  return onlyOnItsWay(db, rows.map(toSentSum), (lines) =>
    lines.where("run_lines.business_id", "=", businessId),
  );
}

/**
 * Returns lines that can be called back, the nearest day first: held ones of any day, and scheduled
 * ones from a day on, if one is given. Of one funding account, or of all.
 */
export async function recallableLines(
  db: Db,
  businessId: string,
  firstInTime: string | null,
  page: { readonly offset: number; readonly limit: number },
  sourceId?: string,
): Promise<PlannedLine[]> {
  const rows = await db
    .selectFrom("run_lines")
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .select("plan_lines.line")
    .selectAll("run_lines")
    .where("run_lines.business_id", "=", businessId)
    .where(IS_UNDER_WAY)
    .where((eb) =>
      sourceId === undefined ? sql.lit(true) : eb("run_lines.source_id", "=", sourceId),
    )
    .where((eb) => {
      const held = eb("run_lines.state", "=", "held");
      if (firstInTime === null) return held;
      const isInTime = eb("run_lines.execution_date", ">=", firstInTime);
      const isOne = eb(IS_SPLIT, "=", 0);
      return eb.or([held, eb.and([eb(STANDS, "=", "scheduled"), isInTime, isOne])]);
    })
    .orderBy("run_lines.execution_date")
    .orderBy("run_lines.amount_cents", "desc")
    .orderBy("run_lines.payable_id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map((row) => ({ plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) }));
}
