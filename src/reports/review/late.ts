import { sql, type SqlBool } from "kysely";
import type { ReviewedBill } from "../../api/review.ts";
import { LATE, type LineAsApproved, linesAsApproved } from "../../store/lines/approval-groups.ts";
import type { Db } from "../../store/index.ts";

/** Lines read at once. */
const LINES_AT_ONCE = 1_000;

/**
 * The late bills of a run of which some wait whose day has passed: these have a later one now than
 * the store's own count of late days goes by, so each is looked at.
 */
export async function lateAfterDeadline(
  db: Db,
  runId: string,
  of: {
    /** The day to which an approval moves those whose own has passed. */
    readonly earliest: string;
    readonly nowMs: number;
    /** How many are named. */
    readonly most: number;
    readonly reviewed: (line: LineAsApproved) => ReviewedBill;
  },
): Promise<{ readonly count: number; readonly bills: readonly ReviewedBill[] }> {
  const { earliest, nowMs, most, reviewed } = of;
  const where = sql<SqlBool>`(${LATE.where} or run_lines.execution_date < ${earliest}
    and run_lines.state in ('awaiting-approval', 'on-hold'))`;
  let count = 0;
  let bills: ReviewedBill[] = [];
  for (let offset = 0; ; offset += LINES_AT_ONCE) {
    const page = { offset, limit: LINES_AT_ONCE };
    const lines = await linesAsApproved(db, runId, { where, page }, nowMs);
    const late = lines.map(reviewed).filter(({ daysLate }) => daysLate > 0);
    count += late.length;
    bills = [...bills, ...late]
      .toSorted((one, other) => other.daysLate - one.daysLate)
      .slice(0, most);
    if (lines.length < LINES_AT_ONCE) return { count, bills };
  }
}
