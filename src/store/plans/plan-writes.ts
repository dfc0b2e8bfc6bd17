import type { LineReason } from "../../contracts/reason-codes.ts";
import { setImmediate } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { LineState } from "../../contracts/line-states.ts";
import type { PlanLine, PlanSummary, SkippedLine } from "../../contracts/pay-run.ts";
import { bankChangeOf } from "../../domain/approvals/bank-changes.ts";
import { daysLate, hasChangedRecord, isFlagged } from "../../domain/planning/flagged.ts";
import { keepNamesOfPlan } from "../names/names.ts";
import { keepStages } from "../approvals/approval-stages.ts";
import { NO_BACK_OFF } from "../lines/lease-columns.ts";
import { chunks } from "../sql/db.ts";
import { changeRecords } from "../sql/records.ts";
import { ONLY_PLANS, onlyPlans, PLAN_ONLY } from "../../domain/plan-only.ts";
import { getPlan, type StoredPlan } from "./plans.ts";
import type { Run } from "../runs/runs.ts";
import type { Tables } from "../schema/tables.ts";
import { asColumns } from "../sql/as-record.ts";

/** A run's plan as it is first made. */
export interface FirstPlan {
  readonly run: Pick<Run, "runId" | "businessId" | "policy">;
  readonly plan: {
    readonly summary: PlanSummary;
    readonly lines: readonly PlanLine[];
    readonly skipped: readonly SkippedLine[];
  };
  readonly nowMs: number;
  /** Business-clock instant from which bills that are still undecided are read again. */
  readonly pollAtMs?: number;
}

/**
 * Stores the first plan of a run with its lines, once.
 *
 * If one is stored already, returns it and changes nothing: a planning activity that runs again, or
 * a reset of the workflow, can't overwrite what was approved or paid.
 */
export async function storePlan(
  trx: Transaction<Tables>,
  { run, plan, nowMs, pollAtMs = 0 }: FirstPlan,
): Promise<StoredPlan> {
  const stored = await getPlan(trx, run.runId);
  if (stored !== undefined) return stored;
  const { summary } = plan;
  await insertPlan(trx, run.runId, 1, summary, nowMs);
  await keepStages(trx, run.runId, plan.lines);
  const numbered = plan.lines.map((line, index) => ({ line, lineNo: index + 1 }));
  for (const lines of chunks(numbered)) {
    // Storing a hundred thousand lines takes seconds, in which this process must still heartbeat.
    await setImmediate();
    await trx
      .insertInto("plan_lines")
      .values(lines.map(({ line, lineNo }) => planLineRow(run.runId, line, { lineNo, planNo: 1 })))
      .execute();
    await trx
      .insertInto("run_lines")
      .values(
        lines.map(({ line, lineNo }) => ({
          run_id: run.runId,
          payable_id: line.payableId,
          business_id: run.businessId,
          line_no: lineNo,
          ...plannedColumns(run, line),
          funded: 0,
          stage: 0,
          escalated: 0,
          stage_since_ms: null,
          payment_ids: "[]",
          attempts: 0,
          lease_epoch: 0,
          not_before_ms: 0,
          ...NO_BACK_OFF,
          poll_at_ms: pollAtMs,
          look: 0,
          updated_at_ms: nowMs,
        })),
      )
      .execute();
  }
  for (const lines of chunks(plan.skipped)) {
    await trx
      .insertInto("plan_skipped")
      .values(
        lines.map((skipped) => {
          const { payableId, code } = skipped;
          return asColumns({ runId: run.runId, payableId, code, skipped });
        }),
      )
      .execute();
  }
  await keepNamesOfPlan(trx, run.businessId, plan);
  return { runId: run.runId, planNo: 1, planHash: summary.planHash, summary, createdAtMs: nowMs };
}

/** Stores a plan of a run and makes it the current one. */
export async function insertPlan(
  trx: Transaction<Tables>,
  runId: string,
  planNo: number,
  summary: PlanSummary,
  nowMs: number,
): Promise<void> {
  const { planHash, totalCents } = summary;
  await trx
    .insertInto("plans")
    .values(asColumns({ runId, planNo, planHash, summary, createdAtMs: nowMs }))
    .execute();
  await changeRecords(trx, "runs", { runId }, { planHash, planNo, totalCents });
}

/** Returns the row of a plan line's version, which is stored once. */
export function planLineRow(
  runId: string,
  line: PlanLine,
  { lineNo, planNo }: { readonly lineNo: number; readonly planNo: number },
) {
  return {
    run_id: runId,
    payable_id: line.payableId,
    version: line.version,
    plan_no: planNo,
    line_no: lineNo,
    line_hash: line.lineHash,
    contact_id: line.contactId,
    amount_cents: line.amountCents,
    execution_date: line.executionDate,
    source_id: line.funding.sourceId,
    line: JSON.stringify(line),
  };
}

/** Returns the columns of the run's line that a version of its plan line determines. */
export function plannedColumns(run: Pick<Run, "policy">, line: PlanLine) {
  const { state, reasonCode, reason } = beginningOf(run, line);
  return {
    version: line.version,
    line_hash: line.lineHash,
    contact_id: line.contactId,
    source_id: line.funding.sourceId,
    amount_cents: line.amountCents,
    execution_date: line.executionDate,
    quorum: line.quorum,
    state,
    reason_code: reasonCode,
    reason,
    rule_index: line.ruleIndex,
    due_date: line.dueDate,
    days_late: daysLate(line),
    flagged: Number(isFlagged(line)),
    bank_changed: Number(bankChangeOf(line) !== undefined),
    record_changed: Number(hasChangedRecord(line)),
    over_limit: Number(line.overLimit !== null),
  };
}

/**
 * Returns the state in which a planned line begins: it waits for approval, a person must act first,
 * or it was only planned.
 */
export function beginningOf(
  { policy }: Pick<Run, "policy">,
  { overLimit, executionDate }: PlanLine,
): {
  readonly state: LineState;
  readonly reasonCode: LineReason | null;
  readonly reason: string | null;
} {
  if (onlyPlans(policy)) {
    const paid =
      overLimit === null ? `It would have been paid on ${executionDate}` : overLimit.text;
    const reason = `${paid.replace(/\.$/, "")}; nothing is sent, since ${ONLY_PLANS}.`;
    return { state: "skipped", reasonCode: PLAN_ONLY, reason };
  }
  return overLimit === null
    ? { state: "awaiting-approval", reasonCode: null, reason: null }
    : { state: "parked", reasonCode: overLimit.code, reason: overLimit.text };
}
