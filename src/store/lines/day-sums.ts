import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { type RunLine, toRunLine } from "./lines.ts";

/** Lines of one day in one state. */
export interface DaySum extends Pick<RunLine, "executionDate" | "state"> {
  readonly count: number;
  readonly cents: number;
}

/** What is paid on each of these days, of all runs of a business, by state; not what was only planned. */
export async function sumsByDay(
  db: Db,
  businessId: string,
  days: { readonly from: string; readonly to: string },
): Promise<DaySum[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["execution_date", "state", COUNT, CENTS])
    .where("business_id", "=", businessId)
    .where((eb) => eb.between("execution_date", days.from, days.to))
    .where("state", "!=", "skipped")
    .groupBy(["execution_date", "state"])
    .execute();
  return rows
    .map(toRunLine)
    .map((row) => ({ ...row, count: Number(row.count), cents: Number(row.cents) }));
}
