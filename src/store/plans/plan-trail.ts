import { LINE_MOVED } from "../../domain/facts/lines.ts";
import { runPlanned } from "../../domain/facts/runs.ts";
import { record } from "../facts/record.ts";
import { byWorkflow } from "../../contracts/authors.ts";
import type { Transaction } from "kysely";
import { definedOnly } from "../../contracts/defined-only.ts";
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
  const head = { businessId, nowMs, by: byWorkflow(runId) };
  const planned = { planHash, lines, totalCents, skipped };
  await record(trx, runPlanned({ ...head, subject: runId }, planned));
  const numbered = plan.lines.map((line, index) => ({ line, lineNo: index + 1 }));
  const states = Map.groupBy(numbered, ({ line }) => {
    const { state, reasonCode } = beginningOf(run, line);
    return JSON.stringify({ state, ...definedOnly({ reasonCode: reasonCode ?? undefined }) });
  });
  for (const [beginning, ofOne] of states) {
    const { state, ...why } = JSON.parse(beginning) as Pick<Beginning, "state"> & {
      readonly reasonCode?: string;
    };
    const begun = ofOne.map(({ line: { payableId, lineHash, amountCents }, lineNo }) => ({
      payableId,
      lineNo,
      details: { lineHash, amountCents },
    }));
    await record(trx, LINE_MOVED[state].ofLines(head, why, { runId, lines: begun }));
  }
  for (const some of chunks(plan.skipped)) {
    const each = some.map(({ payableId, code }) => ({ payableId, code }));
    await record(trx, LINE_MOVED.skipped({ ...head, subject: `${runId}/skipped` }, { each }));
  }
}

type Beginning = ReturnType<typeof beginningOf>;
