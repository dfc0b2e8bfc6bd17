import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { Db } from "../sql/db.ts";
import { idsIn } from "../sql/rows-as.ts";

/** How a bill stands in its runs. */
export interface BillStanding {
  readonly payableId: string;
  /** State of the line that has not ended, else of the one that changed last. */
  readonly state: LineState;
  readonly runId: string;
  readonly amountCents: number;
  readonly paymentIds: readonly string[];
  /** Why its last plan left it out, if no run has a line of it; else null. */
  readonly leftOut: string | null;
}

/** Returns how bills stand, by id, if any run has seen them. */
export async function billsStanding(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<Map<string, BillStanding>> {
  const standing = new Map<string, BillStanding>();
  const leftOut = await db
    .selectFrom("plan_skipped")
    .innerJoin("runs", "runs.run_id", "plan_skipped.run_id")
    .select(["plan_skipped.payable_id", "plan_skipped.code", "runs.run_id"])
    .where("runs.business_id", "=", businessId)
    .where("plan_skipped.payable_id", "in", idsIn(payableIds))
    .orderBy("runs.launched_at_ms")
    .execute();
  for (const { payable_id: payableId, code, run_id: runId } of leftOut) {
    const without = { amountCents: 0, paymentIds: [] };
    standing.set(payableId, { payableId, runId, state: "skipped", leftOut: code, ...without });
  }
  const lines = await db
    .selectFrom("run_lines")
    .select(["payable_id", "run_id", "state", "amount_cents", "payment_ids"])
    .where("business_id", "=", businessId)
    .where("payable_id", "in", idsIn(payableIds))
    .orderBy("updated_at_ms")
    .execute();
  for (const line of lines) {
    const state = line.state as LineState;
    const before = standing.get(line.payable_id)?.state;
    const asks = before !== undefined && !LINE.ended.includes(before);
    if (asks && LINE.ended.includes(state)) continue;
    // A line that was only planned says nothing about a bill that another run has paid or tried to.
    if (state === "skipped" && before !== undefined && before !== "skipped") continue;
    standing.set(line.payable_id, {
      payableId: line.payable_id,
      runId: line.run_id,
      state,
      amountCents: line.amount_cents,
      paymentIds: JSON.parse(line.payment_ids) as string[],
      leftOut: null,
    });
  }
  return standing;
}
