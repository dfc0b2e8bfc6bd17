import { COUNT, type Db } from "../sql/db.ts";

/** Reason code of a line that changed after it was planned, and so waits for approval again. */
export const CHANGED = "changed-since-approval";

/** Bills that wait for approval again: how many, and the first ones in the plan's order with why. */
export async function askedAgain(
  db: Db,
  runId: string,
  limit: number,
): Promise<{
  readonly count: number;
  readonly first: {
    readonly payableId: string;
    readonly amountCents: number;
    readonly reason: string | null;
  }[];
}> {
  const lines = db
    .selectFrom("run_lines")
    .where("run_id", "=", runId)
    .where("state", "=", "awaiting-approval")
    .where("reason_code", "=", CHANGED);
  const { count } = await lines.select(COUNT).executeTakeFirstOrThrow();
  const first = await lines
    .select(["payable_id as payableId", "amount_cents as amountCents", "reason"])
    .orderBy("line_no")
    .limit(limit)
    .execute();
  return { count, first };
}
