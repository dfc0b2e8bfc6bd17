import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import type { Db } from "../index.ts";

/**
 * Returns bills of open runs for which it isn't known whether a request that left has paid them,
 * and whose last request left before an instant. The bill that has waited longest comes first.
 *
 * @param beforeMs database clock
 */
export async function billsInDoubtSince(
  db: Db,
  businessId: string,
  beforeMs: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom("run_lines")
    .innerJoin("runs", "runs.run_id", "run_lines.run_id")
    .innerJoin("sends", (join) =>
      join
        .onRef("sends.business_id", "=", "run_lines.business_id")
        .onRef("sends.subject", "=", "run_lines.payable_id"),
    )
    .select(["run_lines.payable_id", (eb) => eb.fn.max("sends.opened_at_ms").as("last")])
    .where("runs.business_id", "=", businessId)
    .where("runs.phase", "not in", ENDED_PHASES)
    .where("run_lines.state", "=", "unknown")
    .groupBy("run_lines.payable_id")
    .having((eb) => eb(eb.fn.max("sends.opened_at_ms"), "<", beforeMs))
    .orderBy("last")
    .execute();
  return rows.map(({ payable_id: payableId }) => payableId);
}
