import { type Selectable, sql } from "kysely";
import type { LineState, PlanLine } from "../contracts/pay-run.ts";
import { chunks, type Db } from "./db.ts";
import { idsIn } from "./many.ts";
import type { RunLinesTable } from "./run-tables.ts";

/** Where one line of a run stands. */
export interface RunLine {
  readonly runId: string;
  readonly payableId: string;
  readonly businessId: string;
  readonly version: number;
  /** Its place in the plan, from 1. */
  readonly lineNo: number;
  readonly lineHash: string;
  readonly contactId: string;
  readonly sourceId: string;
  readonly amountCents: number;
  readonly executionDate: string;
  readonly quorum: number;
  readonly state: LineState;
  readonly reasonCode: string | null;
  readonly reason: string | null;
  readonly paymentIds: readonly string[];
  readonly attempts: number;
  readonly funded: boolean;
  readonly leaseEpoch: number;
  /** Real instant until which whoever has drawn it may send; null while nobody has. */
  readonly leaseUntilMs: number | null;
  /** How often in a row drawing it came to nothing, and since when (service's clock). */
  readonly rests: number;
  readonly restSinceMs: number | null;
  readonly pollAtMs: number;
  readonly look: boolean;
  /** Stage of its approval that was open when it was last looked at, from 0. */
  readonly stage: number;
  /** True once that stage was escalated. */
  readonly escalated: boolean;
}

export interface LineChange {
  readonly state?: LineState;
  readonly reasonCode?: string | null;
  readonly reason?: string | null;
  readonly paymentIds?: readonly string[];
  readonly attempts?: number;
  readonly funded?: boolean;
  readonly notBeforeMs?: number;
  /** Drawing it came to nothing again, at this instant of the service's clock; null: to something. */
  readonly restsAtMs?: number | null;
  readonly pollAtMs?: number;
  readonly look?: boolean;
  readonly executionDate?: string;
  /** True gives the line back for the next draw. */
  readonly releaseLease?: boolean;
}

/**
 * Changes a line.
 *
 * @param guard with `epoch`, only while no later draw holds the line; with `from`, only out of
 * these states
 * @returns false where the guard did not hold
 */
export async function changeLine(
  db: Db,
  key: { readonly runId: string; readonly payableId: string },
  change: LineChange,
  nowMs: number,
  guard: { readonly epoch?: number; readonly from?: readonly LineState[] } = {},
): Promise<boolean> {
  let query = db
    .updateTable("run_lines")
    .set({
      updated_at_ms: nowMs,
      ...(change.state === undefined ? {} : { state: change.state }),
      ...(change.reasonCode === undefined ? {} : { reason_code: change.reasonCode }),
      ...(change.reason === undefined ? {} : { reason: change.reason }),
      ...(change.paymentIds === undefined
        ? {}
        : { payment_ids: JSON.stringify(change.paymentIds) }),
      ...(change.attempts === undefined ? {} : { attempts: change.attempts }),
      ...(change.funded === undefined ? {} : { funded: change.funded ? 1 : 0 }),
      ...(change.notBeforeMs === undefined ? {} : { not_before_ms: change.notBeforeMs }),
      ...(change.restsAtMs === undefined ? {} : restsAgain(change.restsAtMs)),
      ...(change.pollAtMs === undefined ? {} : { poll_at_ms: change.pollAtMs }),
      ...(change.look === undefined ? {} : { look: change.look ? 1 : 0 }),
      ...(change.executionDate === undefined ? {} : { execution_date: change.executionDate }),
      ...(change.releaseLease === true ? { lease_owner: null, lease_until_ms: null } : {}),
    })
    .where("run_id", "=", key.runId)
    .where("payable_id", "=", key.payableId);
  if (guard.epoch !== undefined) query = query.where("lease_epoch", "=", guard.epoch);
  if (guard.from !== undefined) query = query.where("state", "in", guard.from);
  const result = await query.executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

function restsAgain(atMs: number | null) {
  if (atMs === null) return { rests: 0, rest_since_ms: null };
  return {
    rests: sql<number>`rests + 1`,
    rest_since_ms: sql<number>`coalesce(rest_since_ms, ${Math.floor(atMs)})`,
  };
}

/** One line of a run, or undefined. */
export async function getRunLine(
  db: Db,
  runId: string,
  payableId: string,
): Promise<RunLine | undefined> {
  const row = await db
    .selectFrom("run_lines")
    .selectAll()
    .where("run_id", "=", runId)
    .where("payable_id", "=", payableId)
    .executeTakeFirst();
  return row === undefined ? undefined : toRunLine(row);
}

/** How many lines stand in each state and what they come to, in cents. */
export async function countLines(
  db: Db,
  runId: string,
): Promise<Map<LineState, { count: number; cents: number }>> {
  const rows = await db
    .selectFrom("run_lines")
    .select((eb) => [
      "state",
      eb.fn.countAll<number>().as("count"),
      eb.fn.sum<number>("amount_cents").as("cents"),
    ])
    .where("run_id", "=", runId)
    .groupBy("state")
    .execute();
  return new Map(
    rows.map((row) => [
      row.state as LineState,
      { count: Number(row.count), cents: Number(row.cents) },
    ]),
  );
}

/** The plan line that a run's line points at now. */
export async function planLineOf(
  db: Db,
  line: { readonly runId: string; readonly payableId: string; readonly version: number },
): Promise<PlanLine> {
  const row = await db
    .selectFrom("plan_lines")
    .select("line")
    .where("run_id", "=", line.runId)
    .where("payable_id", "=", line.payableId)
    .where("version", "=", line.version)
    .executeTakeFirstOrThrow();
  return JSON.parse(row.line) as PlanLine;
}

/** The plan lines that lines of a run point at now. */
export async function planLinesOf(
  db: Db,
  runId: string,
  payableIds: readonly string[],
): Promise<PlanLine[]> {
  const lines: PlanLine[] = [];
  for (const some of chunks(payableIds)) {
    const rows = await db
      .selectFrom("run_lines")
      .innerJoin("plan_lines", (join) =>
        join
          .onRef("plan_lines.run_id", "=", "run_lines.run_id")
          .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
          .onRef("plan_lines.version", "=", "run_lines.version"),
      )
      .select("plan_lines.line")
      .where("run_lines.run_id", "=", runId)
      .where("run_lines.payable_id", "in", idsIn(some))
      .execute();
    for (const row of rows) lines.push(JSON.parse(row.line) as PlanLine);
  }
  return lines;
}

export function toRunLine(row: Selectable<RunLinesTable>): RunLine {
  return {
    runId: row.run_id,
    payableId: row.payable_id,
    businessId: row.business_id,
    version: row.version,
    lineNo: row.line_no,
    lineHash: row.line_hash,
    contactId: row.contact_id,
    sourceId: row.source_id,
    amountCents: row.amount_cents,
    executionDate: row.execution_date,
    quorum: row.quorum,
    state: row.state as LineState,
    reasonCode: row.reason_code,
    reason: row.reason,
    paymentIds: JSON.parse(row.payment_ids) as string[],
    attempts: row.attempts,
    funded: row.funded === 1,
    leaseEpoch: row.lease_epoch,
    leaseUntilMs: row.lease_until_ms,
    rests: row.rests,
    restSinceMs: row.rest_since_ms,
    pollAtMs: row.poll_at_ms,
    look: row.look === 1,
    stage: row.stage,
    escalated: row.escalated === 1,
  };
}
