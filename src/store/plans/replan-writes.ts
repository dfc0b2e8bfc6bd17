import { linesPlannedAnew } from "../../domain/facts/lines.ts";
import { record } from "../facts/record.ts";
import { byWorkflow } from "../../contracts/authors.ts";
import { setImmediate } from "node:timers/promises";
import { sql, type Transaction } from "kysely";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { planHash, policyHash } from "../../domain/approvals/hashes.ts";
import { decideByOf } from "../../domain/planning/dates.ts";
import { keepNamesOfPlan } from "../names/names.ts";
import { keepStages } from "../approvals/approval-stages.ts";
import { assigned, NO_BACK_OFF, NO_LEASE } from "../lines/lease-columns.ts";
import { chunks } from "../sql/db.ts";
import { rowsAs } from "../sql/rows-as.ts";
import { type Replaced, replacedBy, replanSummary } from "./plan-summary.ts";
import { insertPlan, plannedColumns, planLineRow } from "./plan-writes.ts";
import { getPlan, type StoredPlan } from "./plans.ts";
import { CHANGED } from "../lines/asked-again.ts";
import { getPlanLines } from "../lines/plan-lines.ts";
import { getRun, type Run } from "../runs/runs.ts";
import type { Tables } from "../schema/tables.ts";

/** A line that had to be planned anew. */
export interface ReplannedLine {
  /** Its version is one more than the stored one. */
  readonly plan: PlanLine;
  /** What has changed, for its approvers: a sentence without its beginning and full stop. */
  readonly reason: string;
}

interface StoredLine {
  readonly plan: PlanLine;
  readonly lineNo: number;
}

/**
 * Stores any number of lines that had to be planned anew. They wait for approval again, and the run
 * gets one new plan with a new hash. Approvals of the other lines stay.
 *
 * A line that is already stored in exactly this version changes nothing.
 *
 * @throws if the run has no such line, or its version doesn't follow the stored one
 */
export async function storeReplannedLines(
  trx: Transaction<Tables>,
  input: {
    readonly runId: string;
    readonly lines: readonly ReplannedLine[];
    readonly nowMs: number;
  },
): Promise<StoredPlan> {
  const { runId, nowMs } = input;
  const run = await getRun(trx, runId);
  const last = await getPlan(trx, runId);
  if (run === undefined || last === undefined) throw new Error(`${runId} has no plan.`);
  const planNo = last.planNo + 1;
  const replaced: (Replaced & { readonly lineNo: number; readonly plan: PlanLine })[] = [];
  for (const some of chunks(input.lines)) {
    // A hundred thousand lines take seconds, in which this process must still heartbeat.
    await setImmediate();
    const before = await storedLines(trx, runId, some);
    const next = some.filter((line) => follows(runId, line, before.get(line.plan.payableId)?.plan));
    if (next.length === 0) continue;
    const numbered = next.flatMap(({ plan, reason }) => {
      const stored = before.get(plan.payableId);
      return stored === undefined ? [] : [{ plan, reason, stored }];
    });
    await trx
      .insertInto("plan_lines")
      .values(
        numbered.map(({ plan, stored: { lineNo } }) =>
          planLineRow(runId, plan, { lineNo, planNo }),
        ),
      )
      .execute();
    await replan(trx, run, next, nowMs);
    for (const { plan, stored } of numbered) {
      replaced.push({ ...replacedBy(stored.plan, plan), lineNo: stored.lineNo, plan });
    }
  }
  if (replaced.length === 0) return last;
  const lines = replaced.map(({ plan }) => plan);
  await keepStages(trx, runId, lines);
  await keepNamesOfPlan(trx, run.businessId, { lines, skipped: [] });
  const hash = await hashOfPlan(trx, run);
  const decideBy = await decideByNow(trx, runId);
  const summary = replanSummary(last.summary, replaced, { planHash: hash, decideBy });
  await insertPlan(trx, runId, planNo, summary, nowMs);
  const head = { businessId: run.businessId, nowMs, by: byWorkflow(runId) };
  const anew = replaced.map(({ lineNo, plan: { payableId, version, lineHash, amountCents } }) => ({
    payableId,
    lineNo,
    details: { version, lineHash, amountCents },
  }));
  const same = { runId, planNo, planHash: hash };
  await record(trx, linesPlannedAnew.ofLines(head, same, { runId, lines: anew }));
  return { runId, planNo, planHash: hash, summary, createdAtMs: nowMs };
}

async function storedLines(
  trx: Transaction<Tables>,
  runId: string,
  lines: readonly ReplannedLine[],
): Promise<Map<string, StoredLine>> {
  const payableIds = lines.map(({ plan }) => plan.payableId);
  const stored = await getPlanLines(trx, runId, { payableIds });
  return new Map(stored.map(({ plan, line: { lineNo } }) => [plan.payableId, { plan, lineNo }]));
}

/** True if the line follows the stored version; false if it is stored already. */
function follows(runId: string, { plan }: ReplannedLine, before: PlanLine | undefined): boolean {
  const { payableId, version, lineHash } = plan;
  if (before === undefined) {
    throw new Error(`The plan of ${runId} has no line for payable ${payableId}.`);
  }
  if (before.version === version && before.lineHash === lineHash) return false;
  if (version === before.version + 1) return true;
  throw new Error(
    `Version ${version} of payable ${payableId} in ${runId} doesn't follow version ` +
      `${before.version}.`,
  );
}

/** Updates lines of the run to their next versions; none of these lines is leased. */
async function replan(
  trx: Transaction<Tables>,
  run: Run,
  lines: readonly ReplannedLine[],
  nowMs: number,
): Promise<void> {
  const { runId } = run;
  const rows = lines.map(({ plan, reason }) => {
    const back = { reason_code: CHANGED, reason: `Back to approval: ${reason}.` };
    const why = plan.overLimit === null ? back : {};
    return { runId, payableId: plan.payableId, ...plannedColumns(run, plan), ...why };
  });
  await sql`
    update run_lines set
      version = anew.version, line_hash = anew.line_hash, contact_id = anew.contact_id,
      source_id = anew.source_id, amount_cents = anew.amount_cents,
      execution_date = anew.execution_date, quorum = anew.quorum, state = anew.state,
      reason_code = anew.reason_code, reason = anew.reason, rule_index = anew.rule_index,
      due_date = anew.due_date, days_late = anew.days_late, flagged = anew.flagged, bank_changed = anew.bank_changed,
      record_changed = anew.record_changed,
      over_limit = anew.over_limit,
      funded = 0, stage = 0, escalated = 0, stage_since_ms = null,
      record_asked = null, record_asked_at_ms = null,
      ${assigned({ ...NO_LEASE, ...NO_BACK_OFF })}, updated_at_ms = ${nowMs}
    from ${rowsAs("anew", "run_lines", rows)}
    where run_lines.run_id = anew.run_id
      and run_lines.payable_id = anew.payable_id`.execute(trx);
}

async function hashOfPlan(trx: Transaction<Tables>, run: Run): Promise<string> {
  const rows = await trx
    .selectFrom("run_lines")
    .select("line_hash")
    .where("run_id", "=", run.runId)
    .execute();
  return planHash({
    lineHashes: rows.map((row) => row.line_hash),
    playbook: run.policy.name,
    playbookRevision: run.playbookRevision,
    policyHash: policyHash(run.policy),
  });
}

/**
 * Returns when the first of the lines that wait for approval has to be decided; null if none waits.
 */
async function decideByNow(trx: Transaction<Tables>, runId: string): Promise<string | null> {
  const row = await trx
    .selectFrom("run_lines")
    .select((eb) => eb.fn.min("execution_date").as("first"))
    .where("run_id", "=", runId)
    .where("state", "=", "awaiting-approval")
    .executeTakeFirst();
  const first: string | null = row?.first ?? null;
  return first === null ? null : decideByOf(first);
}
