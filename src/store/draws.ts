import { sql, type Transaction } from "kysely";
import type { Attempt } from "../contracts/attempt.ts";
import type { PlanLine } from "../contracts/pay-run.ts";
import type { PayLimits } from "../contracts/playbook.ts";
import { holdOn } from "../domain/holds.ts";
import { noteRefusal } from "./attempt-writes.ts";
import { liveAttemptsOf } from "./attempts.ts";
import { appendMoves } from "./audit-lines.ts";
import { chunks } from "./db.ts";
import { isRejected } from "./decisions.ts";
import { activeHolds } from "./holds.ts";
import { approvedLines } from "./line-approvals.ts";
import { changeLine, planLinesOf, toRunLine, type RunLine } from "./lines.ts";
import { idsIn } from "./many.ts";
import type { Tables } from "./tables.ts";
import { isRead } from "./verified-lines.ts";
import { probeWaits } from "./waits.ts";
import { WeekSums } from "./week-sums.ts";

export interface DrawRequest {
  readonly runId: string;
  readonly businessId: string;
  readonly playbook: string;
  readonly limits: PayLimits;
  /** Who draws: written into the lease, for people. */
  readonly owner: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly realMs: number;
  readonly serviceMs: number;
  readonly businessMs: number;
  /** Lines that nobody has read since then, on the service's clock, are left for later. */
  readonly verifiedSinceMs?: number;
}

/** A line leased for paying, with everything its request is made of. */
export interface DrawnLine {
  readonly line: RunLine;
  readonly plan: PlanLine;
  readonly attempt: Attempt | undefined;
  /** False: only look-ups may be made, the gate is closed for sends. */
  readonly maySend: boolean;
  readonly leaseUntilMs: number;
}

export interface Draw {
  readonly lines: readonly DrawnLine[];
  /** Service-clock instant until which the whole business waits, where it does. */
  readonly blockedUntilMs: number | null;
}

/**
 * Leases the next lines of a run, in one transaction with every check that money needs: the run
 * is neither rejected nor being cancelled, no hold stops the line, a valid unexpired approval of exactly this
 * line is stored, and the weekly limits hold across runs.
 *
 * A line whose last request has an unknown effect is drawn even when the gate is closed, for
 * look-ups only.
 */
export async function drawLines(trx: Transaction<Tables>, request: DrawRequest): Promise<Draw> {
  const run = await trx
    .selectFrom("runs")
    .select(["cancel_requested_at_ms", "phase"])
    .where("run_id", "=", request.runId)
    .executeTakeFirstOrThrow();
  const waits = await trx
    .selectFrom("business_waits")
    .selectAll()
    .where("business_id", "=", request.businessId)
    .execute();
  const wholeBusiness = waits.filter((wait) => wait.source_id === "");
  const blockedUntilMs = Math.max(
    0,
    ...wholeBusiness.map((wait) => wait.retry_at_ms).filter((at) => at > request.serviceMs),
  );
  if (blockedUntilMs > 0) return { lines: [], blockedUntilMs };
  const blockedSources = waits
    .filter((wait) => wait.source_id !== "" && wait.retry_at_ms > request.serviceMs)
    .map((wait) => wait.source_id);
  const due = waits.filter((wait) => wait.retry_at_ms <= request.serviceMs);
  const rows = probesOnly(
    await drawable(trx, request, blockedSources),
    due.map((wait) => wait.source_id),
  );
  if (rows.length === 0) return { lines: [], blockedUntilMs: null };
  if (due.length > 0) {
    const sourceIds = rows.map((row) => row.sourceId);
    await probeWaits(trx, { ...request, sourceIds, nowMs: request.serviceMs });
  }
  const holds = await activeHolds(trx, request.businessId, request.businessMs);
  const attempts = await liveAttemptsOf(
    trx,
    request.businessId,
    rows.map((row) => row.payableId),
  );
  const approved = await approvedLines(trx, rows, request.businessMs);
  const weeks = new WeekSums(trx, request);
  const stopped: Gate["stopped"] = (await isRejected(trx, request.runId))
    ? "rejected"
    : run.cancel_requested_at_ms === null
      ? null
      : "run-cancelled";
  const passed: Passed[] = [];
  for (const row of rows) {
    const attempt = attempts.get(row.payableId);
    const hold = holdOn(holds, { ...row, playbook: request.playbook });
    const gate = {
      stopped,
      hold,
      approved: approved.has(row.payableId),
      overLimit: attempt === undefined ? await weeks.refusal(row) : null,
    };
    if (attempt === undefined && !(await passes(trx, row, gate, request.realMs))) continue;
    const maySend = stopped === null && hold === undefined && gate.approved;
    if (attempt !== undefined && !maySend) {
      await noteRefusal(trx, attempt, { why: whyNot(gate), nowMs: request.realMs });
    }
    passed.push({ row, attempt, maySend });
  }
  return { lines: await lease(trx, request, passed), blockedUntilMs: null };
}

/**
 * After a wait one line goes first, of the source or of everything: if the fault is still there,
 * one request has found out.
 */
function probesOnly(rows: readonly RunLine[], dueSources: readonly string[]): readonly RunLine[] {
  if (dueSources.includes("")) return rows.slice(0, 1);
  const probed = new Set<string>();
  return rows.filter(({ sourceId }) => {
    if (!dueSources.includes(sourceId)) return true;
    const isFirst = !probed.has(sourceId);
    probed.add(sourceId);
    return isFirst;
  });
}

async function drawable(
  trx: Transaction<Tables>,
  request: DrawRequest,
  blockedSources: readonly string[],
): Promise<RunLine[]> {
  let query = trx
    .selectFrom("run_lines")
    .selectAll()
    .where("run_id", "=", request.runId)
    // Literally as the index of drawable lines has it: it is not used for bound values.
    .where(sql<boolean>`state in ('planned', 'paying', 'unknown')`)
    .where("not_before_ms", "<=", request.serviceMs)
    .where((eb) =>
      eb.or([
        eb.and([eb("state", "=", "planned"), eb("funded", "=", 1)]),
        eb.and([
          eb("state", "in", ["paying", "unknown"]),
          eb.or([eb("lease_until_ms", "is", null), eb("lease_until_ms", "<", request.realMs)]),
        ]),
      ]),
    );
  if (blockedSources.length > 0) query = query.where("source_id", "not in", blockedSources);
  const { verifiedSinceMs } = request;
  if (verifiedSinceMs !== undefined) {
    query = query.where((eb) => eb.or([eb("state", "!=", "planned"), isRead(eb, verifiedSinceMs)]));
  }
  const rows = await query
    .orderBy("execution_date")
    .orderBy("line_no")
    .limit(request.limit)
    .execute();
  return rows.map(toRunLine);
}

interface Gate {
  readonly stopped: "rejected" | "run-cancelled" | null;
  readonly hold: { readonly reason: string } | undefined;
  readonly approved: boolean;
  readonly overLimit: { readonly code: string; readonly text: string } | null;
}

/** Puts a line that may not be paid now where it belongs; true where it may. */
async function passes(
  trx: Transaction<Tables>,
  row: RunLine,
  gate: Gate,
  nowMs: number,
): Promise<boolean> {
  const refusal = refusalOf(gate);
  if (refusal === null) return true;
  await changeLine(trx, row, refusal, nowMs);
  const { runId, businessId, payableId, lineNo } = row;
  const { state, reasonCode = "not-approved" } = refusal;
  const line = { payable_id: payableId, line_no: lineNo };
  await appendMoves(trx, { runId, businessId, nowMs }, state, [line], { reasonCode });
  return false;
}

/** What becomes of a line that may not be sent; null where it may. */
function refusalOf({ stopped, hold, approved, overLimit }: Gate) {
  if (stopped !== null) return { state: "cancelled", reasonCode: stopped } as const;
  if (hold !== undefined) {
    return { state: "on-hold", reasonCode: "on-hold", reason: hold.reason } as const;
  }
  if (!approved) return { state: "awaiting-approval", funded: false } as const;
  if (overLimit === null) return null;
  return { state: "parked", reasonCode: overLimit.code, reason: overLimit.text } as const;
}

/** What keeps a request that was sent before from being sent again now. */
function whyNot({ stopped, hold }: Gate): string {
  return stopped ?? (hold === undefined ? "not-approved" : "on-hold");
}

interface Passed {
  readonly row: RunLine;
  readonly attempt: Attempt | undefined;
  readonly maySend: boolean;
}

async function lease(
  trx: Transaction<Tables>,
  request: DrawRequest,
  passed: readonly Passed[],
): Promise<DrawnLine[]> {
  const leaseUntilMs = request.realMs + request.leaseMs;
  const plans = new Map<string, PlanLine>();
  for (const some of chunks(passed)) {
    const ids = some.map(({ row }) => row.payableId);
    await trx
      .updateTable("run_lines")
      .set((eb) => ({
        state: "paying",
        lease_epoch: eb("lease_epoch", "+", 1),
        lease_owner: request.owner,
        lease_until_ms: leaseUntilMs,
        updated_at_ms: request.realMs,
      }))
      .where("run_id", "=", request.runId)
      .where("payable_id", "in", idsIn(ids))
      .execute();
    for (const line of await planLinesOf(trx, request.runId, ids)) plans.set(line.payableId, line);
  }
  return passed.map(({ row, attempt, maySend }) => {
    const plan = plans.get(row.payableId);
    if (plan === undefined) throw new Error(`${row.runId} has no plan line for ${row.payableId}`);
    return {
      line: { ...row, state: "paying", leaseEpoch: row.leaseEpoch + 1 },
      plan,
      attempt,
      maySend,
      leaseUntilMs,
    };
  });
}
