import type { Transaction } from "kysely";
import { serviceTimeMs } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { appendAudit } from "../store/audit/audit.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import { holdOnce, type NewHold } from "../store/holds/holds.ts";
import { requestCancel } from "../store/runs/runs.ts";
import { holdForLoss } from "../store/janitor/behind.ts";
import { maySendMore, openRuns, phaseOf, type OpenRun } from "../store/janitor/open-runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { startOrSignalPayRun } from "../temporal/start.ts";
import { AUTHOR, type JanitorContext } from "./context.ts";
import { type Execution, executionOf, mayBeStarting } from "./executions.ts";

const STOPPED =
  "Its workflow was terminated in Temporal. What was sent is followed; nothing more is paid until " +
  "somebody releases this hold, or cancels the run.";

/**
 * Gives every run that has not ended a workflow again, where it has lost its own.
 *
 * The new one reads the run's row and goes on from there: what was sent without a known answer is
 * looked up before it is sent again or released. What a person meant by ending the old one is kept:
 * a termination stops what is not sent yet, a cancellation cancels the run.
 */
export async function followLostRuns(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const open = await openRuns(context.store.db, profile.businessId);
  for (const run of open) {
    if (running.has(run.runId)) continue;
    const execution = await executionOf(context.temporal, run.runId);
    if (execution.kind === "running" || mayBeStarting(execution, run.launchedAtMs)) continue;
    const serviceMs = await serviceTimeMs(context.clockOf(profile.name));
    const isLost = await context.store.transactionOf(profile.businessId, (trx) =>
      keepWhatWasMeant(trx, profile, run, { ...execution, serviceMs }),
    );
    if (!isLost) continue;
    await startOrSignalPayRun(context.temporal, run);
    context.log.warn("a run had lost its workflow and got a new one", {
      runId: run.runId,
      was: execution.kind,
    });
  }
}

/** @returns false where the run has ended meanwhile */
async function keepWhatWasMeant(
  trx: Transaction<Tables>,
  { businessId }: BusinessProfile,
  run: OpenRun,
  execution: Exclude<Execution, { kind: "running" }> & { readonly serviceMs: number | null },
): Promise<boolean> {
  const phase = await phaseOf(trx, run.runId);
  if (phase === undefined || ENDED_PHASES.includes(phase)) return false;
  const nowMs = Date.now();
  if (execution.kind === "terminated" && (await maySendMore(trx, run.runId))) {
    const hold = { businessId, scope: "run", value: run.runId, reason: STOPPED } as const;
    await holdTerminated(trx, hold, execution.closedAtMs);
  }
  if (execution.kind === "cancelled") await requestCancel(trx, run.runId, "temporal", nowMs);
  if (execution.kind === "completed") {
    // A run writes its end into the store before its workflow returns.
    await holdForLoss(trx, {
      businessId,
      evidence: `the run ${run.runId} has ended, and the store doesn't know`,
      hadItAtMs: execution.closedAtMs,
      serviceMs: execution.serviceMs,
    });
  }
  await appendAudit(trx, {
    businessId,
    nowMs,
    actor: AUTHOR,
    action: "run.follower-started",
    subject: run.runId,
    details: { workflow: execution.kind },
  });
  return true;
}

/** A workflow that was terminated stops what is not sent yet, once. */
export async function holdTerminated(
  trx: Transaction<Tables>,
  hold: Pick<NewHold, "businessId" | "scope" | "value" | "reason">,
  closedAtMs: number,
): Promise<void> {
  // Compared with Temporal's clock: this process's own may be minutes behind.
  const ours = { ...hold, author: AUTHOR, nowMs: await databaseNowMs(trx) };
  // Ours have no end, so any instant of the business clock shows them.
  await holdOnce(trx, ours, { businessMs: 0, sinceMs: closedAtMs });
}
