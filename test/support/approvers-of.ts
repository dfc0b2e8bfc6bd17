import { approvalsOf } from "../../src/store/approvals/line-approvals.ts";
import type { Db } from "../../src/store/sql/db.ts";

/** Returns the names of those who have approved these bills. */
export async function approversOf(
  db: Db,
  runId: string,
  payableIds: readonly string[],
  businessMs: number,
): Promise<Map<string, string[]>> {
  const approvals = await approvalsOf(db, runId, payableIds, businessMs);
  return new Map(
    [...approvals].map(([payableId, of]) => [payableId, of.map(({ principal }) => principal)]),
  );
}
