import type { Transaction } from "kysely";
import { type Author, byWorkflow } from "../../contracts/authors.ts";
import type { LineState } from "../../contracts/line-states.ts";
import { LINE_MOVED } from "../../domain/facts/lines.ts";
import type { Tables } from "../schema/tables.ts";
import { record } from "./record.ts";

/** Records that lines of a run moved to a state, with why. */
export async function recordMoves(
  trx: Transaction<Tables>,
  run: { readonly runId: string; readonly businessId: string; readonly nowMs: number },
  to: LineState,
  rows: readonly { readonly payable_id: string; readonly line_no: number }[],
  details: Parameters<(typeof LINE_MOVED)[LineState]["ofLines"]>[1],
  by: Author = byWorkflow(run.runId),
): Promise<void> {
  const { runId, businessId, nowMs } = run;
  const lines = rows.map((row) => ({ payableId: row.payable_id, lineNo: row.line_no }));
  await record(trx, LINE_MOVED[to].ofLines({ businessId, nowMs, by }, details, { runId, lines }));
}
