import type { LineState } from "../../contracts/pay-run.ts";
import { withParts } from "../../domain/payments/line-parts.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { linesInParts } from "../payables/line-parts.ts";
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
  const sums = rows
    .map(toRunLine)
    .map((row) => ({ ...row, count: Number(row.count), cents: Number(row.cents) }));
  const apart = await linesInParts(db, (lines) =>
    lines
      .where("run_lines.business_id", "=", businessId)
      .where((eb) => eb.between("run_lines.execution_date", days.from, days.to)),
  );
  return apart.length === 0 ? sums : withPartsByDay(sums, apart);
}

function withPartsByDay(
  sums: readonly DaySum[],
  lines: Awaited<ReturnType<typeof linesInParts>>,
): DaySum[] {
  return [...Map.groupBy(sums, ({ executionDate }) => executionDate)].flatMap(([date, ofDay]) => {
    const byState = Object.fromEntries(ofDay.map(({ state, ...sum }) => [state, sum]));
    const ofThisDay = lines.filter(({ executionDate }) => executionDate === date);
    return Object.entries(withParts(byState, ofThisDay)).map(([state, { count, cents }]) => {
      return { executionDate: date, state: state as LineState, count, cents };
    });
  });
}
