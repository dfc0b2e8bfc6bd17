import type { LineReason } from "../../contracts/reason-codes.ts";
import { COUNT, type Db } from "../sql/db.ts";
import { type RunLine, toRunLine } from "./lines.ts";

/** Reason code of a line that changed after it was planned, and so waits for approval again. */
export const CHANGED = "changed_since_approval" satisfies LineReason;

/**
 * Returns bills that wait for approval again: how many, and the first ones in plan order with
 * reasons.
 */
export async function askedAgain(
  db: Db,
  runId: string,
  limit: number,
): Promise<{
  readonly count: number;
  readonly first: readonly Pick<RunLine, "payableId" | "state" | "amountCents" | "reason">[];
}> {
  const lines = db
    .selectFrom("run_lines")
    .where("run_id", "=", runId)
    .where("state", "=", "awaiting-approval")
    .where("reason_code", "=", CHANGED);
  const { count } = await lines.select(COUNT).executeTakeFirstOrThrow();
  const first = await lines
    .select(["payable_id", "state", "amount_cents", "reason"])
    .orderBy("line_no")
    .limit(limit)
    .execute();
  return { count: Number(count), first: first.map(toRunLine) };
}
