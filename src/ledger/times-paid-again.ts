import type { Db } from "../store/sql/db.ts";
import { isApplied, madeIdsOf } from "./derive.ts";
import { subjectFacts } from "./rows.ts";

/**
 * How often a line was paid again: requests that made one of its payments, but for the first. Rows
 * that nobody rewrites say so, whichever run or owner the bill belonged to meanwhile.
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
