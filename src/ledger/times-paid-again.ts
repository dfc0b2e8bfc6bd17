import type { Db } from "../store/sql/db.ts";
import { isApplied, madeIdsOf } from "./derive.ts";
import { subjectFacts } from "./rows.ts";

/**
 * Counts the attempts that made one of the line's payments, excluding the first. The rows are
 * insert-only, so the count is right for any run or owner that the bill had.
 */
export async function timesPaidAgain(
  db: Db,
  line: {
    readonly businessId: string;
    readonly payableId: string;
    readonly paymentIds: readonly string[];
  },
): Promise<number> {
  const { attempts } = await subjectFacts(db, line.businessId, line.payableId);
  const ids = new Set(line.paymentIds);
  const made = attempts.filter(
    (attempt) => isApplied(attempt) && madeIdsOf(attempt).some((id) => ids.has(id)),
  );
  return Math.max(0, made.length - 1);
}
