import { sql } from "kysely";
import type { LineState } from "../../contracts/line-states.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { type Db } from "../sql/db.ts";
import { findEach, findOne } from "../sql/records.ts";
import { NO_BACK_OFF, NO_LEASE } from "./lease-columns.ts";

/** The current state of one line of a run. */
export type RunLine = RecordOf<"run_lines">;

export const toRunLine = readerOf("run_lines");

/** Selects the stage of a line that was escalated, from 0; null if none was (`escalatedStage`). */
export const ESCALATED_STAGE = sql<
  number | null
>`case when run_lines.escalated = 1 then run_lines.stage end`;

export interface LineChange extends Partial<
  Pick<
    RunLine,
    | "state"
    | "reasonCode"
    | "reason"
    | "paymentIds"
    | "attempts"
    | "funded"
    | "pollAtMs"
    | "look"
    | "executionDate"
    | "recordAsked"
    | "recordAskedAtMs"
  >
> {
  readonly notBeforeMs?: number;
  /**
   * Service-clock instant at which leasing it came to nothing again; null if it came to something.
   */
  readonly backsOffAtMs?: number | null;
  /** True frees the line for the next lease. */
  readonly releaseLease?: boolean;
}

/**
 * Changes a line.
 *
 * @param guard with `epoch`, only while no later lease holds the line; with `from`, only out of
 * these states
 * @returns false if the guard did not hold
 */
export async function changeLine(
  db: Db,
  key: { readonly runId: string; readonly payableId: string },
  change: LineChange,
  nowMs: number,
  guard: { readonly epoch?: number; readonly from?: readonly LineState[] } = {},
): Promise<boolean> {
  const { backsOffAtMs, releaseLease, ...columns } = change;
  let query = db
    .updateTable("run_lines")
    .set({
      ...asColumns({ ...columns, updatedAtMs: nowMs }),
      ...(backsOffAtMs === undefined ? {} : backsOffAgain(backsOffAtMs)),
      ...(releaseLease === true ? NO_LEASE : {}),
    })
    .where("run_id", "=", key.runId)
    .where("payable_id", "=", key.payableId);
  if (guard.epoch !== undefined) query = query.where("lease_epoch", "=", guard.epoch);
  if (guard.from !== undefined) query = query.where("state", "in", guard.from);
  const result = await query.executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

function backsOffAgain(atMs: number | null) {
  if (atMs === null) return NO_BACK_OFF;
  return {
    back_offs: sql<number>`back_offs + 1`,
    back_off_since_ms: sql<number>`coalesce(back_off_since_ms, ${Math.floor(atMs)})`,
  };
}

/** Returns one line of a run; undefined if there is none. */
export function getRunLine(db: Db, runId: string, payableId: string): Promise<RunLine | undefined> {
  return findOne(db, "run_lines", { runId, payableId });
}

/** Returns these lines of a run, as far as the run has them. */
export async function getRunLines(
  db: Db,
  runId: string,
  payableIds: readonly string[],
): Promise<RunLine[]> {
  return findEach(db, "run_lines", { runId }, "payable_id", payableIds);
}

/** Returns the current plan line of a run's line. */
export async function planLineOf(
  db: Db,
  line: { readonly runId: string; readonly payableId: string; readonly version: number },
): Promise<PlanLine> {
  const { runId, payableId, version } = line;
  const kept = await findOne(db, "plan_lines", { runId, payableId, version });
  if (kept === undefined) throw new Error(`${runId} has no version ${version} of ${payableId}`);
  return kept.line;
}
