import { setImmediate } from "node:timers/promises";
import type { Selectable, Transaction } from "kysely";
import type { LineState, PlanLine, PlanSummary, SkippedLine } from "../contracts/pay-run.ts";
import { planHash, policyHash } from "../domain/approvals/hashes.ts";
import { keepStages } from "./approval-stages.ts";
import { appendAudit } from "./audit.ts";
import { chunks, type Db } from "./db.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { replanSummary } from "./plan-summary.ts";
import { getRun, type Run } from "./runs.ts";
import type { PlansTable } from "./run-tables.ts";
import type { Tables } from "./tables.ts";

export interface StoredPlan {
  readonly runId: string;
  /** 1, 2, …: one more each time a line was planned anew. */
  readonly planNo: number;
  readonly planHash: string;
  readonly summary: PlanSummary;
  readonly createdAtMs: number;
}

/** A line as it was planned, and where it stands. */
export interface PlannedLine {
  readonly plan: PlanLine;
  readonly line: RunLine;
}

/**
 * Stores the first plan of a run with its lines, once.
 *
 * Where one is stored already it is returned and nothing changes: a planning activity that runs
 * again, or a reset of the workflow, can't overwrite what was approved or paid.
 */
export async function storePlan(
  trx: Transaction<Tables>,
  input: {
    readonly run: Pick<Run, "runId" | "businessId">;
    readonly plan: {
      readonly summary: PlanSummary;
      readonly lines: readonly PlanLine[];
      readonly skipped: readonly SkippedLine[];
    };
    readonly nowMs: number;
  },
): Promise<StoredPlan> {
  const { run, plan, nowMs } = input;
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
          known_payment_ids: "[]",
          attempts: 0,
          lease_epoch: 0,
          not_before_ms: 0,
          verified_at_ms: 0,
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
      verified_at_ms: 0,
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

/** A plan of a run, the latest unless said; undefined before there is one. */
export async function getPlan(
  db: Db,
  runId: string,
  planNo?: number,
): Promise<StoredPlan | undefined> {
  let query = db.selectFrom("plans").selectAll().where("run_id", "=", runId);
  if (planNo !== undefined) query = query.where("plan_no", "=", planNo);
  const row = await query.orderBy("plan_no", "desc").limit(1).executeTakeFirst();
  return row === undefined ? undefined : toStoredPlan(row);
}

async function currentLine(
  db: Db,
  runId: string,
  payableId: string,
): Promise<(PlannedLine & { lineNo: number }) | undefined> {
  const row = await currentLines(db, runId)
    .where("run_lines.payable_id", "=", payableId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row), lineNo: row.line_no };
}

/** Lines of a run as they stand now, in plan order. */
export async function getPlanLines(
  db: Db,
  runId: string,
  filter: {
    readonly states?: readonly LineState[];
    readonly payableIds?: readonly string[];
    /** True: only lines with a reason to look at. */
    readonly withReason?: boolean;
    /** Only lines behind this number of the plan, at most `limit`. */
    readonly after?: number;
    readonly limit?: number;
    readonly page?: { readonly offset: number; readonly limit: number };
  } = {},
): Promise<PlannedLine[]> {
  let query = currentLines(db, runId).orderBy("run_lines.line_no");
  if (filter.states !== undefined) query = query.where("run_lines.state", "in", filter.states);
  if (filter.payableIds !== undefined) {
    query = query.where("run_lines.payable_id", "in", filter.payableIds);
  }
  if (filter.after !== undefined) query = query.where("run_lines.line_no", ">", filter.after);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  if (filter.withReason === true) query = query.where("run_lines.reason", "is not", null);
  if (filter.page !== undefined) query = query.limit(filter.page.limit).offset(filter.page.offset);
  const rows = await query.execute();
  return rows.map((row) => ({ plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) }));
}

function currentLines(db: Db, runId: string) {
  return db
    .selectFrom("run_lines")
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .selectAll("run_lines")
    .select("plan_lines.line")
    .where("run_lines.run_id", "=", runId);
}

/** One version of a payable's plan line, the one that holds now unless said. */
export async function getPlanLine(
  db: Db,
  runId: string,
  payableId: string,
  version?: number,
): Promise<PlanLine | undefined> {
  if (version === undefined) return (await currentLine(db, runId, payableId))?.plan;
  const row = await db
    .selectFrom("plan_lines")
    .select("line")
    .where("run_id", "=", runId)
    .where("payable_id", "=", payableId)
    .where("version", "=", version)
    .executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.line) as PlanLine);
}

/** Payables that the plan left out, and why. */
export async function listSkipped(
  db: Db,
  runId: string,
  page?: { readonly offset: number; readonly limit: number },
): Promise<SkippedLine[]> {
  let query = db
    .selectFrom("plan_skipped")
    .select("skipped")
    .where("run_id", "=", runId)
    .orderBy("code")
    .orderBy("payable_id");
  if (page !== undefined) query = query.limit(page.limit).offset(page.offset);
  const rows = await query.execute();
  return rows.map((row) => JSON.parse(row.skipped) as SkippedLine);
}

function toStoredPlan(row: Selectable<PlansTable>): StoredPlan {
  return {
    runId: row.run_id,
    planNo: row.plan_no,
    planHash: row.plan_hash,
    summary: JSON.parse(row.summary) as PlanSummary,
    createdAtMs: row.created_at_ms,
  };
}
