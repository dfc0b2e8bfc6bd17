import { LINE, type LineState } from "../../contracts/line-states.ts";
import { chunks, type Db } from "../sql/db.ts";
import { is, isIn } from "../sql/is-in.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { idsIn } from "../sql/rows-as.ts";

/** State of lines under way that are with the bank already, and can't be taken back any more. */
const WITH_THE_BANK: LineState = "processing";

/**
 * Returns lines of a business for which the service may have a payment that has not run yet, or a
 * request may be on its way.
 *
 * Reads what is open or parked, not everything that was ever paid.
 */
export async function linesUnderWay(
  db: Db,
  businessId: string,
  of: {
    /** A run's playbook; null for every run. */
    readonly playbook: string | null;
    readonly contactId: string | null;
    readonly payableId: string | null;
    readonly runId: string | null;
    readonly sourceId: string | null;
  },
): Promise<RunLine[]> {
  let query = db.selectFrom("run_lines").selectAll().where("business_id", "=", businessId);
  if (of.contactId !== null) query = query.where("contact_id", "=", of.contactId);
  if (of.payableId !== null) query = query.where("payable_id", "=", of.payableId);
  if (of.runId !== null) query = query.where("run_id", "=", of.runId);
  if (of.sourceId !== null) query = query.where("source_id", "=", of.sourceId);
  const open = await query
    .where(isIn("state", LINE.underWay))
    .where("state", "!=", WITH_THE_BANK)
    .execute();
  const parked = await query.where(is("state", "parked")).execute();
  const lines = [...open, ...parked].map(toRunLine);
  if (of.playbook === null) return lines;
  const runIds = await runsOf(db, of.playbook, [...new Set(lines.map(({ runId }) => runId))]);
  return lines.filter(({ runId }) => runIds.has(runId));
}

/** Returns which of these runs belong to a playbook. */
async function runsOf(db: Db, playbook: string, runIds: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const some of chunks(runIds)) {
    const rows = await db
      .selectFrom("runs")
      .select("run_id")
      .where("run_id", "in", idsIn(some))
      .where("playbook", "=", playbook)
      .execute();
    for (const row of rows) found.add(row.run_id);
  }
  return found;
}
