import { runCancelRequested, runJoined, runLaunched } from "../../domain/facts/runs.ts";
import { record } from "../facts/record.ts";
import { type Author, kindOfAuthor, nameOfAuthor } from "../../contracts/authors.ts";
import type { Transaction } from "kysely";
import { definedOnly } from "../../contracts/defined-only.ts";
import { payRunId } from "../../contracts/workflow-kinds.ts";
import { ENDED_PHASES, type RunPhase } from "../../contracts/pay-run.ts";
import { onlyPlans } from "../../domain/plan-only.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import { COUNT, type Db } from "../sql/db.ts";
import { changeRecords, findOne } from "../sql/records.ts";
import { jsonHash } from "../audit/audit-said.ts";
import type { Tables } from "../schema/tables.ts";
import { findRunOfPeriod, wasEmpty } from "./run-of-period.ts";
import { isUndecided } from "./run-stand.ts";

/** Endings after which the same period may be launched again, as the next revision. */
const RELAUNCHABLE: readonly RunPhase[] = ["rejected", "expired", "cancelled", "failed"];

export type Run = RecordOf<"runs">;

const toRun = readerOf("runs");

export interface NewRun extends Pick<
  Run,
  | "businessId"
  | "business"
  | "playbook"
  | "playbookRevision"
  | "policy"
  | "period"
  | "launchedByTokenId"
> {
  readonly launchedBy: Author;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
  /** Joins any run that has used up the period, however it ended. */
  readonly once?: boolean;
}

/**
 * Makes the run of a period, or joins the existing one.
 *
 * Unique on business, playbook, period and revision: however many launch at once, there is one run.
 * The next revision is made only after a rejected, expired, cancelled or failed run, after one that
 * ended by itself without a single line, or if the period was only planned and is to be paid now. Any other
 * run that completed is joined, so that its period is never paid again.
 *
 * @throws if the id is taken by a run of another business behind the same profile name
 */
export async function upsertRun(
  db: Db,
  launch: NewRun,
): Promise<{ runId: string; created: boolean; run: Run }> {
  const latest = await findRunOfPeriod(db, launch);
  const joined = latest === undefined ? undefined : await joinedOf(db, latest, launch);
  if (joined !== undefined) return { runId: joined.runId, created: false, run: joined };
  const revision = (latest?.revision ?? 0) + 1;
  const { businessId, business, playbook, playbookRevision, policy, period } = launch;
  const { inputs = {}, launchedBy, launchedByTokenId } = launch;
  const runId = payRunId(business, playbook, period, revision);
  const inserted = await db
    .insertInto("runs")
    .values(
      asColumns({
        runId,
        businessId,
        business,
        playbook,
        playbookRevision,
        policy,
        period,
        revision,
        inputs,
        launchedByTokenId,
        launchedAtMs: Math.floor(launch.nowMs),
        launchedBy: nameOfAuthor(launchedBy),
        launchedByKind: kindOfAuthor(launchedBy),
        phase: "planning" satisfies RunPhase,
        planNo: 0,
        totalCents: 0,
        decisionsSent: 0,
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted !== undefined) return { runId, created: true, run: toRun(inserted) };

  // Another process launched between the read and the write: its run is the run of the period.
  const theirs = await findRunOfPeriod(db, launch);
  if (theirs === undefined || theirs.revision < revision) {
    throw new Error(
      `The run id ${runId} belongs to another business. Give the profile "${launch.business}" ` +
        "a name that was not used for another businessId.",
    );
  }
  return { runId: theirs.runId, created: false, run: theirs };
}

/** Returns the run that a launch would join; undefined if it would make one. */
export async function joinedRun(
  db: Db,
  launch: Pick<NewRun, "businessId" | "playbook" | "period" | "policy" | "once">,
): Promise<Run | undefined> {
  const latest = await findRunOfPeriod(db, launch);
  return latest === undefined ? undefined : joinedOf(db, latest, launch);
}

async function joinedOf(
  db: Db,
  latest: Run,
  { once, policy }: Pick<NewRun, "once" | "policy">,
): Promise<Run | undefined> {
  const { phase } = latest;
  if (await wasEmpty(db, latest)) return undefined;
  if (once === true) return latest;
  const isPaidNow = onlyPlans(latest.policy) && !onlyPlans(policy) && phase === "completed";
  return isPaidNow || RELAUNCHABLE.includes(phase) ? undefined : latest;
}

/**
 * True if a playbook's runs belong to this business: it names the business, or it names none
 * because there is only one.
 */
export function isOfBusiness(policy: Pick<Run["policy"], "business">, business: string): boolean {
  return policy.business === null || policy.business === business;
}

/**
 * Does the same as `upsertRun`, with an entry in the audit trail.
 *
 * @throws if the playbook belongs to another business: no request may launch it
 */
export async function recordLaunch(
  trx: Transaction<Tables>,
  launch: NewRun,
): Promise<{ runId: string; created: boolean; run: Run }> {
  if (!isOfBusiness(launch.policy, launch.business)) {
    throw new Error(`the playbook ${launch.playbook} is not ${launch.business}'s`);
  }
  const launched = await upsertRun(trx, launch);
  const { policy, inputs, launchedByTokenId: tokenId } = launched.run;
  const head = {
    businessId: launch.businessId,
    nowMs: launch.nowMs,
    by: launch.launchedBy,
    subject: launched.runId,
  };
  const { playbook, playbookRevision: revision, period } = launch;
  const of = { playbook, revision, period };
  const decides = { tokenId, policy: jsonHash(policy), inputs: jsonHash(inputs) };
  await record(
    trx,
    launched.created ? runLaunched(head, { ...of, ...decides }) : runJoined(head, of),
  );
  return launched;
}

export function getRun(db: Db, runId: string): Promise<Run | undefined> {
  return findOne(db, "runs", { runId });
}

export interface RunFilter {
  readonly businessId?: string;
  /** Business-clock instant: only open runs with bills that lack an approval then. */
  readonly undecidedAtMs?: number;
  readonly limit: number;
}

/** Returns runs, latest launch first. */
export async function listRuns(db: Db, filter: RunFilter): Promise<Run[]> {
  let query = db.selectFrom("runs").selectAll("runs");
  if (filter.businessId !== undefined) query = query.where("business_id", "=", filter.businessId);
  if (filter.undecidedAtMs !== undefined) {
    query = query.where(isUndecided(filter.undecidedAtMs));
  }
  const rows = await query
    .orderBy("launched_at_ms", "desc")
    .orderBy("run_id", "desc")
    .limit(filter.limit)
    .execute();
  return rows.map(toRun);
}

export interface RunPhaseChange {
  readonly phase: RunPhase;
  /**
   * What the run waits for, for people; undefined leaves it, except that an ended run waits for
   * nothing.
   */
  readonly waitingFor?: string | null;
  readonly failure?: string | null;
  readonly endedAtMs?: number;
}

/**
 * Moves a run to a phase; never out of an ended phase, whatever arrives late.
 *
 * @returns false if the run is unknown or has ended in another phase
 */
export async function setRunPhase(db: Db, runId: string, change: RunPhaseChange): Promise<boolean> {
  const ended = ENDED_PHASES.includes(change.phase);
  const waitingFor = change.waitingFor ?? (ended ? null : change.waitingFor);
  const { endedAtMs } = change;
  const result = await db
    .updateTable("runs")
    .set((eb) => ({
      phase: change.phase,
      ...definedOnly({ waiting_for: waitingFor, failure: change.failure }),
      // A second call keeps the first instant.
      ...(endedAtMs === undefined
        ? {}
        : { ended_at_ms: eb.fn.coalesce("ended_at_ms", eb.val(endedAtMs)) }),
    }))
    .where("run_id", "=", runId)
    .where((eb) => eb.or([eb("phase", "not in", ENDED_PHASES), eb("phase", "=", change.phase)]))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** True if nothing more is planned, asked or paid for a run; a run that is lost is over as well. */
export function isOver(run: Run | undefined): boolean {
  return run === undefined || ENDED_PHASES.includes(run.phase);
}

/** Starts the time in which a plan may be approved; a later plan of the run doesn't restart it. */
export async function setApproveBy(
  db: Db,
  runId: string,
  times: { readonly plannedAtMs: number; readonly approveByMs: number },
): Promise<void> {
  await changeRecords(db, "runs", { runId, approveByMs: null }, times);
}

/**
 * Requests that a run stop leasing lines; what was sent is still followed.
 *
 * @returns `already` if it was requested before: the first request's author stays
 */
export async function requestCancel(
  trx: Transaction<Tables>,
  runId: string,
  by: Author,
  nowMs: number,
  reason: string | null = null,
): Promise<"requested" | "already" | "ended" | "unknown"> {
  const result = await trx
    .updateTable("runs")
    .set({
      cancel_requested_at_ms: nowMs,
      cancel_requested_by: nameOfAuthor(by),
      cancel_requested_by_kind: kindOfAuthor(by),
      cancel_reason: reason,
    })
    .where("run_id", "=", runId)
    .where("phase", "not in", ENDED_PHASES)
    .where("cancel_requested_at_ms", "is", null)
    .executeTakeFirst();
  const run = await getRun(trx, runId);
  if (run === undefined) return "unknown";
  if (result.numUpdatedRows > 0n) {
    const head = { businessId: run.businessId, nowMs, by, subject: runId };
    await record(trx, runCancelRequested(head, { reason: reason ?? undefined }));
    return "requested";
  }
  return ENDED_PHASES.includes(run.phase) ? "ended" : "already";
}

/** Counts a decision about a run that was sent straight to Temporal. @returns how many were */
export async function countDecisionSent(trx: Transaction<Tables>, runId: string): Promise<number> {
  const row = await trx
    .updateTable("runs")
    .set((eb) => ({ decisions_sent: eb("decisions_sent", "+", 1) }))
    .where("run_id", "=", runId)
    .returning("decisions_sent")
    .executeTakeFirst();
  return Number(row?.decisions_sent ?? 0);
}

/** Counts the pay runs of each business in each phase. */
export async function countRunsByPhase(
  db: Db,
): Promise<{ readonly business: string; readonly phase: string; readonly count: number }[]> {
  const rows = await db
    .selectFrom("runs")
    .select(["business", "phase", COUNT])
    .groupBy(["business", "phase"])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Returns every run, and whether it has ended. */
export async function runsWithEnd(db: Db): Promise<Map<string, boolean>> {
  const runs = await db.selectFrom("runs").select(["run_id", "ended_at_ms"]).execute();
  return new Map(runs.map((run) => [run.run_id, run.ended_at_ms !== null]));
}
