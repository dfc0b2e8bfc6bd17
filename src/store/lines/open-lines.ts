import { sql } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { factOf, HOLD_SCOPES, type HoldFacts, type HoldTarget } from "../../domain/holds.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import type { Lines } from "../payables/line-parts.ts";
import { IS_UNDER_WAY } from "./line-states.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { currentOf, linesOfPayable } from "./payable-history.ts";
import {
  AS_STANDS,
  IS_SPLIT,
  onlyOnItsWay,
  type SentSum,
  STANDS,
  toSentSum,
} from "./split-lines.ts";

/** A line that may still move money, with its run's playbook. */
export type OpenLine = RunLine & { readonly playbook: string };

/** The columns of a line's facts that holds are compared with. */
const COLUMN_OF = {
  payableId: "run_lines.payable_id",
  contactId: "run_lines.contact_id",
  sourceId: "run_lines.source_id",
  runId: "runs.run_id",
  playbook: "runs.playbook",
} as const satisfies Readonly<Record<keyof HoldFacts, string>>;

type HeldColumn = (typeof COLUMN_OF)[keyof HoldFacts];

/** Returns the column that a hold's value is compared with; null if the hold stops every line. */
export function heldColumn(scope: string): HeldColumn | null {
  const fact = factOf(scope);
  return fact === null ? null : COLUMN_OF[fact];
}

/** Scopes whose holds may stop one line of a run and not another, with the line's column. */
export const SCOPES_WITHIN_RUN = HOLD_SCOPES.flatMap((scope) => {
  const column = heldColumn(scope);
  return column === null || isOfRun(column) ? [] : [{ scope, column }];
});

/** True for a column that all lines of a run share. */
export function isOfRun(column: HeldColumn): column is Extract<HeldColumn, `runs.${string}`> {
  return column.startsWith("runs.");
}

/**
 * Returns the lines that a hold concerns and that still need something from their runs, whatever
 * was sent for them.
 */
export async function openLinesOf(
  db: Db,
  businessId: string,
  target: HoldTarget,
): Promise<OpenLine[]> {
  const rows = await Promise.all(
    openOf(db, businessId, target).map((query) =>
      query.selectAll("run_lines").select("runs.playbook").execute(),
    ),
  );
  return rows.flat().map((row) => ({ ...toRunLine(row), playbook: row.playbook }));
}

/** Sums these lines, by state and day. */
export async function openSumsOf(
  db: Db,
  businessId: string,
  target: HoldTarget,
): Promise<SentSum[]> {
  const rows = await Promise.all(
    openOf(db, businessId, target).map((query) =>
      query
        .select(["run_lines.execution_date", STANDS.as(AS_STANDS), IS_SPLIT.as("is_split")])
        .select([COUNT, CENTS])
        .groupBy(["run_lines.execution_date", sql.ref(AS_STANDS), IS_SPLIT])
        .execute(),
    ),
  );
  return onlyOnItsWay(db, rows.flat().map(toSentSum), (lines) => heldOf(lines, businessId, target));
}

function heldOf(lines: Lines, businessId: string, { scope, value }: HoldTarget): Lines {
  const column = heldColumn(scope);
  const here = lines.where("run_lines.business_id", "=", businessId);
  if (column === null) return here;
  return here.where((eb) =>
    eb.exists(
      eb
        .selectFrom("runs")
        .select("runs.run_id")
        .whereRef("runs.run_id", "=", "run_lines.run_id")
        .where(column, "=", value),
    ),
  );
}

/** Sums the paid bills of a run, or the one bill that the target names, by its current line. */
export async function paidSumOf(
  db: Db,
  businessId: string,
  { scope, value }: HoldTarget,
): Promise<{ readonly bills: number; readonly totalCents: number }> {
  if (scope === "payable") {
    const line = currentOf(await linesOfPayable(db, businessId, value));
    const isPaid = line !== undefined && LINE.paid.includes(line.state);
    return isPaid ? { bills: 1, totalCents: line.amountCents } : { bills: 0, totalCents: 0 };
  }
  if (scope !== "run") return { bills: 0, totalCents: 0 };
  const { count, cents } = await db
    .selectFrom("run_lines")
    .where("run_id", "=", value)
    .where("state", "in", LINE.paid)
    .select([COUNT, CENTS])
    .executeTakeFirstOrThrow();
  return { bills: Number(count), totalCents: Number(cents) };
}

/**
 * Returns two queries: for lines under way, which an index finds, and for waiting lines, which only
 * open runs have.
 */
function openOf(db: Db, businessId: string, { scope, value }: HoldTarget) {
  let query = db.selectFrom("run_lines").innerJoin("runs", "runs.run_id", "run_lines.run_id");
  const column = heldColumn(scope);
  if (column !== null) query = query.where(column, "=", value);
  return [
    query.where("run_lines.business_id", "=", businessId).where(IS_UNDER_WAY),
    query
      .where("runs.business_id", "=", businessId)
      .where("runs.phase", "not in", ENDED_PHASES)
      .where("run_lines.state", "in", LINE.waiting),
  ];
}
