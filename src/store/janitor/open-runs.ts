import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { ENDED_PHASES, type RunPhase } from "../../contracts/pay-run.ts";
import { type ClaimingKind, likeOf } from "../../contracts/workflow-kinds.ts";
import { asColumns, readerOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { rowMayStillPay } from "../payables/open-subjects.ts";
import { getRun, type Run } from "../runs/runs.ts";
import type { Tables } from "../schema/tables.ts";

/** A run that has not ended: a workflow must be at work on it. */
export type OpenRun = Pick<
  Run,
  "runId" | "business" | "playbook" | "period" | "launchedBy" | "launchedAtMs"
>;

/** Returns the open pay runs only: other kinds of workflows look after their own. */
export async function openRuns(db: Db, businessId: string): Promise<OpenRun[]> {
  const rows = await db
    .selectFrom("runs")
    .select(["run_id", "business", "playbook", "period", "launched_by", "launched_at_ms"])
    .where("business_id", "=", businessId)
    .where("phase", "not in", ENDED_PHASES)
    .where("run_id", "like", likeOf("payRun"))
    .orderBy("run_id")
    .execute();
  return rows.map(readerOf("runs"));
}

/** Returns a run's phase; undefined if the store doesn't know the run. */
export async function phaseOf(db: Db, runId: string): Promise<RunPhase | undefined> {
  return (await getRun(db, runId))?.phase;
}

/** Returns which of these runs the store doesn't know. */
export async function unknownRuns(db: Db, runIds: readonly string[]): Promise<string[]> {
  const known = new Set<string>();
  for (const ids of chunks(runIds)) {
    const rows = await db.selectFrom("runs").select("run_id").where("run_id", "in", ids).execute();
    for (const row of rows) known.add(row.run_id);
  }
  return runIds.filter((runId) => !known.has(runId));
}

/** True if the run may still send a payment: it has no plan yet, or has lines that are not paid. */
export async function maySendMore(db: Db, runId: string): Promise<boolean> {
  if ((await phaseOf(db, runId)) === "planning") return true;
  const line = await db
    .selectFrom("run_lines")
    .select("payable_id")
    .where("run_id", "=", runId)
    .where("state", "in", [...LINE.decidable, ...LINE.leased])
    .limit(1)
    .executeTakeFirst();
  return line !== undefined;
}

/** A payable whose owner is a retry that has not ended: its workflow must exist. */
export interface OwnedRetry {
  readonly payableId: string;
  readonly workflowId: string;
  /** True if it may pay without a further decision of a person. */
  readonly maySend: boolean;
  readonly updatedAtMs: number;
}

/**
 * Returns the retries that own their payable, that a person has asked for, or that a line waits
 * for.
 */
export async function ownedRetries(db: Db, businessId: string): Promise<OwnedRetry[]> {
  const rows = await db
    .selectFrom("retries")
    .leftJoin("claims", (join) =>
      join
        .onRef("claims.business_id", "=", "retries.business_id")
        .onRef("claims.payable_id", "=", "retries.payable_id"),
    )
    .leftJoin("run_lines", (join) =>
      join
        .onRef("run_lines.run_id", "=", "retries.run_id")
        .onRef("run_lines.payable_id", "=", "retries.payable_id"),
    )
    .select([
      "retries.payable_id",
      "retries.workflow_id",
      "retries.phase",
      "retries.requested",
      "retries.updated_at_ms",
      "run_lines.state",
    ])
    .where("retries.business_id", "=", businessId)
    .where((eb) =>
      eb.or([
        eb.and([
          eb("retries.phase", "!=", "ended"),
          eb("claims.owner", "=", eb.ref("retries.workflow_id")),
        ]),
        eb.and([eb("retries.requested", "is not", null), eb("claims.owner", "is", null)]),
        // Its run waits for this line, whatever the retry concluded when it ended.
        eb.and([
          eb("run_lines.state", "=", "retrying"),
          eb.or([
            eb("claims.owner", "is", null),
            eb("claims.owner", "=", eb.ref("retries.workflow_id")),
          ]),
        ]),
      ]),
    )
    .orderBy("retries.payable_id")
    .execute();
  return rows.map((row) => ({
    payableId: row.payable_id,
    workflowId: row.workflow_id,
    maySend: row.requested !== null || !["parked", "following", "ended"].includes(row.phase),
    updatedAtMs: row.updated_at_ms,
  }));
}

type OfClaims = ExpressionBuilder<Tables, "claims">;
type Condition = ExpressionWrapper<Tables, "claims", SqlBool>;

interface Owner {
  /** Pattern of its ids. */
  readonly ids: string;
  /** True for a claim whose owner has not ended. */
  readonly isOpen: (eb: OfClaims) => Condition;
}

const OWNERS: Readonly<Record<ClaimingKind, Owner>> = {
  payRun: {
    ids: likeOf("payRun"),
    isOpen: (eb) =>
      eb.exists(
        eb
          .selectFrom("runs")
          .select("runs.run_id")
          .whereRef("runs.run_id", "=", "claims.owner")
          .where("runs.phase", "not in", ENDED_PHASES),
      ),
  },
  retryFailedPayment: {
    ids: likeOf("retryFailedPayment"),
    isOpen: (eb) =>
      eb.exists(
        eb
          .selectFrom("retries")
          .select("retries.workflow_id")
          .whereRef("retries.workflow_id", "=", "claims.owner")
          .where("retries.phase", "!=", "ended"),
      ),
  },
};

/**
 * Releases claims whose run or retry has ended or is not in the store. A payable with a live
 * attempt, or with a line that has not ended, stays claimed.
 *
 * @param claimedBeforeMs real instant
 * @returns how many were released
 */
export async function releaseOrphanClaims(
  db: Db,
  businessId: string,
  claimedBeforeMs: number,
): Promise<number> {
  const result = await db
    .deleteFrom("claims")
    .where("business_id", "=", businessId)
    .where("claimed_at_ms", "<", claimedBeforeMs)
    .where((eb) => eb.or(Object.values(OWNERS).map((owner) => hasEnded(eb, owner))))
    .where((eb) => eb.not(eb.or([rowMayStillPay("claims"), hasOpenLine(eb)])))
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

function hasEnded(eb: OfClaims, { ids, isOpen }: Owner): Condition {
  return eb.and([eb("owner", "like", ids), eb.not(isOpen(eb))]);
}

function hasOpenLine(eb: OfClaims): Condition {
  return eb.exists(
    eb
      .selectFrom("run_lines")
      .select("run_lines.payable_id")
      .whereRef("run_lines.business_id", "=", "claims.business_id")
      .whereRef("run_lines.payable_id", "=", "claims.payable_id")
      .whereRef("run_lines.run_id", "=", "claims.owner")
      .where("run_lines.state", "not in", LINE.ended),
  );
}

/**
 * Claims payables for their open runs if a request may still pay them and they have no owner:
 * without an owner nothing would look after them, and another run could claim them.
 *
 * @returns how many
 */
export async function claimStrays(db: Db, businessId: string, nowMs: number): Promise<number> {
  const strays = await db
    .selectFrom("open_subjects")
    .innerJoin("runs", "runs.run_id", "open_subjects.owner")
    .leftJoin("claims", (join) =>
      join
        .onRef("claims.business_id", "=", "open_subjects.business_id")
        .onRef("claims.payable_id", "=", "open_subjects.subject"),
    )
    .select(["open_subjects.subject", "open_subjects.owner"])
    .where("open_subjects.business_id", "=", businessId)
    .where("open_subjects.operation", "=", "pay")
    .where("claims.owner", "is", null)
    .where("runs.phase", "not in", ENDED_PHASES)
    .execute();
  for (const some of chunks(strays)) {
    await db
      .insertInto("claims")
      .values(
        some.map(({ subject: payableId, owner }) =>
          asColumns({ businessId, payableId, owner, claimedAtMs: nowMs }),
        ),
      )
      .onConflict((conflict) => conflict.columns(["business_id", "payable_id"]).doNothing())
      .execute();
  }
  return strays.length;
}
