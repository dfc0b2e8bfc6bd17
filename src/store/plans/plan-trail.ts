import { byWorkflow } from "../../contracts/authors.ts";
import type { Transaction } from "kysely";
import { definedOnly } from "../../contracts/defined-only.ts";
import { appendOfLines } from "../audit/audit-lines.ts";
import { appendAudit } from "../audit/audit.ts";
import { chunks } from "../sql/db.ts";
import { beginningOf, type FirstPlan } from "./plan-writes.ts";
import type { Tables } from "../schema/tables.ts";

/**
 * Adds a run's first plan to the audit trail: its hash, each line's hash, and the bills left out.
 */
export async function notePlan(
  trx: Transaction<Tables>,
  { run, plan, nowMs }: FirstPlan,
): Promise<void> {
  const { runId, businessId } = run;
  const { planHash, lineCount: lines, totalCents, skippedCount: skipped } = plan.summary;
  const entry = { businessId, nowMs, actor: byWorkflow(runId) };
  const details = { planHash, lines, totalCents, skipped };
  await appendAudit(trx, { ...entry, action: "run.planned", subject: runId, details });
  const numbered = plan.lines.map((line, index) => ({ line, lineNo: index + 1 }));
  const states = Map.groupBy(numbered, ({ line }) => {
    const { state, reasonCode } = beginningOf(run, line);
    return JSON.stringify({ state, ...definedOnly({ reasonCode: reasonCode ?? undefined }) });
  });
  for (const [beginning, ofOne] of states) {
    const { state, ...why } = JSON.parse(beginning) as { state: string; reasonCode?: string };
    await appendOfLines(trx, {
      ...entry,
      runId,
      action: `line:${state}`,
      details: why,
      lines: ofOne.map(({ line: { payableId, lineHash, amountCents }, lineNo }) => ({
        payableId,
        lineNo,
        details: { lineHash, amountCents },
      })),
    });
  }
  for (const some of chunks(plan.skipped)) {
    const each = some.map(({ payableId, code }) => ({ payableId, code }));
    const of = { action: "line:skipped", subject: `${runId}/skipped`, details: { each } };
    await appendAudit(trx, { ...entry, ...of });
  }
}
