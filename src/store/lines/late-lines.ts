import type { Transaction } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { isIn } from "../sql/is-in.ts";
import { rowMayStillPay } from "../payables/open-subjects.ts";
import type { Tables } from "../schema/tables.ts";

/**
 * Returns the payables of lines that would be leased now and whose execution date has passed.
 * Leaves out lines for which something may have been sent: first a lookup finds out what came of
 * that.
 */
export async function lateLines(
  trx: Transaction<Tables>,
  late: {
    readonly runId: string;
    /** The earliest date on which anything can be paid. */
    readonly before: string;
    readonly serviceMs: number;
    /** Sources from which nothing is paid at the moment. */
    readonly blockedSources: readonly string[];
  },
): Promise<string[]> {
  let query = trx
    .selectFrom("run_lines")
    .select("payable_id")
    .where("run_id", "=", late.runId)
    .where(isIn("state", LINE.leasable))
    .where("execution_date", "<", late.before)
    .where("state", "=", "planned")
    .where("funded", "=", 1)
    .where("not_before_ms", "<=", Math.floor(late.serviceMs))
    .where((eb) => eb.not(rowMayStillPay("run_lines")));
  if (late.blockedSources.length > 0) {
    query = query.where("source_id", "not in", late.blockedSources);
  }
  const rows = await query.execute();
  return rows.map((row) => row.payable_id);
}
