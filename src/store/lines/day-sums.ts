import type { LineState } from "../../contracts/pay-run.ts";
import { sumCents } from "../../domain/money.ts";
import { centsInState, type LineInParts, withParts } from "../../domain/payments/line-parts.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import { linesInParts, linesWithParts } from "../payables/line-parts.ts";
import { isGivenBack } from "../payables/waits-for-person.ts";
import { type RunLine, toRunLine } from "./lines.ts";

/** Lines of one day in one state. */
export interface DaySum extends Pick<RunLine, "executionDate" | "state"> {
  readonly count: number;
  readonly cents: number;
}

/**
 * What is paid on each of these days, of all runs of a business, by state; not what was only
 * planned, nor what was parked and given back.
 */
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
  const all = apart.length === 0 ? sums : withPartsByDay(sums, apart);
  return withoutGivenBack(all, await givenBackOn(db, businessId, days));
}

/** Bills that were parked for these days, and that other runs plan or have, on other days. */
async function givenBackOn(
  db: Db,
  businessId: string,
  days: { readonly from: string; readonly to: string },
): Promise<(LineInParts & Pick<RunLine, "executionDate">)[]> {
  const rows = await db
    .selectFrom("run_lines")
    .selectAll()
    .where("business_id", "=", businessId)
    .where((eb) => eb.between("execution_date", days.from, days.to))
    .where((eb) => eb.and([is("run_lines.state", "parked"), isGivenBack(eb)]))
    .execute();
  return linesWithParts(db, businessId, rows.map(toRunLine));
}

/** What of such a bill was paid before it was given back is in sums of its own. */
function withoutGivenBack(
  sums: readonly DaySum[],
  lines: Awaited<ReturnType<typeof givenBackOn>>,
): DaySum[] {
  return sums.flatMap((sum) => {
    const gone = lines.filter(
      ({ state, executionDate }) => state === sum.state && executionDate === sum.executionDate,
    );
    if (gone.length === 0) return [sum];
    const count = sum.count - gone.length;
    const cents = sum.cents - sumCents(gone.map(centsInState));
    return count + cents === 0 ? [] : [{ ...sum, count, cents }];
  });
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
