import { setImmediate } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { LineState, PlanLine, PlanSummary, SkippedLine } from "../contracts/pay-run.ts";
import { planHash, policyHash } from "../domain/approvals/hashes.ts";
import { keepStages } from "./approval-stages.ts";
import { appendAudit } from "./audit.ts";
import { chunks } from "./db.ts";
import { replanSummary } from "./plan-summary.ts";
import { currentLine, getPlan, type StoredPlan } from "./plans.ts";
import { getRun, type Run } from "./runs.ts";
import type { Tables } from "./tables.ts";

/** A run's plan as it is first made. */
export interface FirstPlan {
  readonly run: Pick<Run, "runId" | "businessId">;
  readonly plan: {
    readonly summary: PlanSummary;
    readonly lines: readonly PlanLine[];
    readonly skipped: readonly SkippedLine[];
  };
  readonly nowMs: number;
}

/**
 * Stores the first plan of a run with its lines, once.
 *
 * Where one is stored already it is returned and nothing changes: a planning activity that runs
 * again, or a reset of the workflow, can't overwrite what was approved or paid.
 */
export async function storePlan(
  trx: Transaction<Tables>,
  { run, plan, nowMs }: FirstPlan,
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
      .values(lines.map(({ line, lineNo }) => planLineRow(run.runId, line, lineNo)))
      .execute();
    await trx
      .insertInto("run_lines")
      .values(
        lines.map(({ line, lineNo }) => ({
          run_id: run.runId,
          payable_id: line.payableId,
          business_id: run.businessId,
          line_no: lineNo,
          ...plannedColumns(line),
          payment_ids: "[]",
          attempts: 0,
          lease_epoch: 0,
          not_before_ms: 0,
          rests: 0,
          poll_at_ms: 0,
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
        lines.map((line) => ({
          run_id: run.runId,
          payable_id: line.payableId,
          code: line.code,
          skipped: JSON.stringify(line),
        })),
      )
      .execute();
  }
  return { runId: run.runId, planNo: 1, planHash: summary.planHash, summary, createdAtMs: nowMs };
}

/**
 * Stores a line that had to be planned anew: it waits for approval again, and the run has a next
 * plan under a new hash. What was approved of the other lines stays.
 *
 * @param input.line its version is one more than the stored one; the same version again changes
 * nothing.
 * @throws where the run has no such line, or the version doesn't follow.
 */
export async function storeReplannedLine(
  trx: Transaction<Tables>,
  input: { readonly runId: string; readonly line: PlanLine; readonly nowMs: number },
): Promise<StoredPlan> {
  const { runId, line, nowMs } = input;
  const before = await currentLine(trx, runId, line.payableId);
  const run = await getRun(trx, runId);
  const plan = await getPlan(trx, runId);
  if (before === undefined || run === undefined || plan === undefined) {
    throw new Error(`The plan of ${runId} has no line for payable ${line.payableId}.`);
  }
  if (before.line.version === line.version && before.line.lineHash === line.lineHash) return plan;
  if (line.version !== before.line.version + 1) {
    throw new Error(
      `Version ${line.version} of payable ${line.payableId} in ${runId} doesn't follow version ` +
        `${before.line.version}.`,
    );
  }
  await trx
    .insertInto("plan_lines")
    .values(planLineRow(runId, line, before.lineNo))
    .execute();
  await keepStages(trx, runId, [line]);
  await trx
    .updateTable("run_lines")
    .set({
      ...plannedColumns(line),
      lease_owner: null,
      lease_until_ms: null,
      rests: 0,
      rest_since_ms: null,
      updated_at_ms: nowMs,
    })
    .where("run_id", "=", runId)
    .where("payable_id", "=", line.payableId)
    .execute();
  const hashes = await trx
    .selectFrom("run_lines")
    .select("line_hash")
    .where("run_id", "=", runId)
    .execute();
  const nextHash = planHash({
    lineHashes: hashes.map((row) => row.line_hash).sort(),
    playbook: run.policy.name,
    playbookRevision: run.playbookRevision,
    policyHash: policyHash(run.policy),
  });
  const summary = replanSummary(plan.summary, before.plan, line, nextHash);
  const planNo = plan.planNo + 1;
  await insertPlan(trx, runId, planNo, summary, nowMs);
  const { businessId } = run;
  const entry = { businessId, nowMs, actor: runId, action: "line:planned-anew" };
  const { payableId: subject, version, lineHash, amountCents } = line;
  const details = { runId, version, lineHash, amountCents, planNo, planHash: nextHash };
  await appendAudit(trx, { ...entry, subject, details });
  return { runId, planNo, planHash: nextHash, summary, createdAtMs: nowMs };
}

async function insertPlan(
  trx: Transaction<Tables>,
  runId: string,
  planNo: number,
  summary: PlanSummary,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto("plans")
    .values({
      run_id: runId,
      plan_no: planNo,
      plan_hash: summary.planHash,
      summary: JSON.stringify(summary),
      created_at_ms: nowMs,
    })
    .execute();
  await trx
    .updateTable("runs")
    .set({ plan_hash: summary.planHash, plan_no: planNo, total_cents: summary.totalCents })
    .where("run_id", "=", runId)
    .execute();
}

function planLineRow(runId: string, line: PlanLine, lineNo: number) {
  return {
    run_id: runId,
    payable_id: line.payableId,
    version: line.version,
    line_no: lineNo,
    line_hash: line.lineHash,
    contact_id: line.contactId,
    amount_cents: line.amountCents,
    execution_date: line.executionDate,
    source_id: line.funding.sourceId,
    line: JSON.stringify(line),
  };
}

/** What a version of a plan line says in the row of the run's line. */
function plannedColumns(line: PlanLine) {
  const state: LineState = line.overLimit === null ? "awaiting-approval" : "parked";
  return {
    version: line.version,
    line_hash: line.lineHash,
    contact_id: line.contactId,
    source_id: line.funding.sourceId,
    amount_cents: line.amountCents,
    execution_date: line.executionDate,
    quorum: line.quorum,
    state,
    reason_code: line.overLimit?.code ?? null,
    reason: line.overLimit?.text ?? null,
    funded: 0,
    rule_index: line.ruleIndex,
    stage: 0,
    escalated: 0,
    stage_since_ms: null,
  };
}
