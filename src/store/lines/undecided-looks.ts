import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { LineReason } from "../../contracts/reason-codes.ts";
import { rowMayStillPay } from "../payables/open-subjects.ts";
import type { Db } from "../sql/db.ts";
import { type LineToLookAt } from "./followed-lines.ts";
import { toRunLine } from "./lines.ts";

/**
 * Reason code of a line that a hold stops; a line on hold with another code waits for an event of
 * its own, and is tried again.
 */
export const HELD = "on_hold" satisfies LineReason;

/** True for a line that waits for a decision, for a hold's end or for money: no lane reads its bill. */
export const IS_UNDECIDED = sql<SqlBool>`(state = 'awaiting-approval'
  or state = 'planned' and funded = 0
  or state = 'on-hold' and reason_code = ${sql.lit(HELD)})`;

/**
 * True for such a line whose bill is to be read now. What came of a request that may still pay is
 * found out first.
 */
export function isUnreadAt(businessMs: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${IS_UNDECIDED} and (look = 1 or poll_at_ms <= ${Math.floor(businessMs)})
    and not ${rowMayStillPay("run_lines")})`;
}

/** Returns the undecided lines of a run whose bills are to be read now. */
export async function undecidedToLookAt(
  db: Db,
  runId: string,
  businessMs: number,
): Promise<Omit<LineToLookAt, "paymentIds">[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select(["payable_id", "look"])
    .where("run_id", "=", runId)
    .where(isUnreadAt(businessMs))
    .orderBy("line_no")
    .execute();
  return rows.map(toRunLine);
}
