import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import type { LineState } from "../../contracts/line-states.ts";
import { plus } from "../../domain/counted.ts";
import { sumCents } from "../../domain/money.ts";
import { centsInState, type LineInParts, withParts } from "../../domain/payments/line-parts.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import { linesInParts, linesWithParts } from "../payables/line-parts.ts";
import { isGivenBack } from "../payables/waits-for-person.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { moneyTakenAgain } from "./reserved.ts";
import { STANDS } from "./split-lines.ts";
import type { Tables } from "../schema/tables.ts";

/** The sum of the lines of one day in one state. */
export interface DaySum extends Pick<RunLine, "executionDate" | "state"> {
  readonly count: number;
  readonly cents: number;
}

interface Days {
  readonly from: string;
  readonly to: string;
}

/**
 * Sums what all runs of a business pay on each of these days, by state. Leaves out what was only
 * planned, and what was parked and given back. A failed bill that was paid again is on its way.
 */
export async function sumsByDay(db: Db, businessId: string, days: Days): Promise<DaySum[]> {
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
  const on = (which: OfLines) => linesOn(db, businessId, days, which);
  const has = (state: LineState) => sums.some((sum) => sum.state === state);
  const isParked = is("run_lines.state", "parked");
  const givenBack = has("parked") ? await on((eb) => eb.and([isParked, isGivenBack(eb)])) : [];
  const isRetrying = is("run_lines.state", "retrying");
  const isSent = sql<SqlBool>`${STANDS} = 'scheduled'`;
  const again = (isTaken: OfLines) =>
    has("retrying") ? on((eb) => eb.and([isRetrying, isSent, isTaken(eb)])) : [];
  const processing = await again((eb) => eb.exists(moneyTakenAgain(eb)));
  const scheduled = await again((eb) => eb.not(eb.exists(moneyTakenAgain(eb))));
  return together([
    ...without(all, [...givenBack, ...processing, ...scheduled]),
    ...processing.map((line) => movedTo("processing", line)),
    ...scheduled.map((line) => movedTo("scheduled", line)),
  ]);
}

function movedTo(state: LineState, line: DayLine): DaySum {
  return { executionDate: line.executionDate, state, count: 1, cents: centsInState(line) };
}

function together(sums: readonly DaySum[]): DaySum[] {
  const same = Map.groupBy(sums, ({ executionDate, state }) => `${executionDate} ${state}`);
  return [...same.values()].map((some) =>
    some.reduce((sum, other) => ({ ...sum, ...plus(sum, other) })),
  );
}

type DayLine = LineInParts & Pick<RunLine, "executionDate">;

type OfLines = (eb: ExpressionBuilder<Tables, "run_lines">) => Expression<SqlBool>;

async function linesOn(db: Db, businessId: string, days: Days, which: OfLines) {
  const rows = await db
    .selectFrom("run_lines")
    .selectAll()
    .where("business_id", "=", businessId)
    .where((eb) => eb.between("execution_date", days.from, days.to))
    .where(which)
    .execute();
  return linesWithParts(db, businessId, rows.map(toRunLine));
}

/** Returns the sums without these lines. What has settled of such lines is in sums of its own. */
function without(sums: readonly DaySum[], lines: readonly DayLine[]): DaySum[] {
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
