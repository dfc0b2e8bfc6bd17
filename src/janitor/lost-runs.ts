import { TEMPORAL } from "../contracts/authors.ts";
import type { Transaction } from "kysely";
import { type TimesNow, timesNow } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import type { AuditHead } from "../contracts/activities.ts";
import { holdForLoss } from "../store/janitor/behind.ts";
import { maySendMore, openRuns, phaseOf } from "../store/janitor/open-runs.ts";
import { requestCancel } from "../store/runs/runs.ts";
import type { Tables } from "../store/schema/tables.ts";
import { startOrSignal } from "../temporal/start.ts";
import { WORKFLOW_KINDS } from "../contracts/workflow-kinds.ts";
import { lostInHistory } from "./lost-heads.ts";
import type { JanitorContext } from "./context.ts";
import { holdTerminated } from "./hold-terminated.ts";
import type { EndedExecution, Owed } from "./owed.ts";

const STOPPED =
  "Its workflow was terminated in Temporal. What was sent is followed; nothing more is paid until " +
  "a person releases this hold, or cancels the run.";

/**
 * Returns the runs that have not ended. A new workflow reads the run's row and goes on from there:
 * a send without a known answer is looked up before it is sent again or released. What a person
 * meant by ending the old workflow is kept: a termination stops what is not sent yet, a
 * cancellation cancels the run.
 */
export async function runsWithoutEnd(
  context: JanitorContext,
  { businessId, name }: BusinessProfile,
): Promise<Owed[]> {
  const { store, temporal } = context;
  const runs = await openRuns(store.db, businessId);
  return runs.map((run) => ({
    workflowId: run.runId,
    sinceMs: run.launchedAtMs,
    subject: run.runId,
    keep: async (was) => {
      const times = await timesNow(context.clockOf(name));
      const lost =
        was.kind === "completed" ? await lostInHistory(context, businessId, run.runId) : undefined;
      return (trx) => keepWhatWasMeant(trx, { businessId, runId: run.runId, was, lost, times });
    },
    start: () => startOrSignal(temporal, WORKFLOW_KINDS.payRun, run),
  }));
}

/** @returns false if the run has ended meanwhile */
async function keepWhatWasMeant(
  trx: Transaction<Tables>,
  of: {
    readonly businessId: string;
    readonly runId: string;
    readonly was: EndedExecution;
    readonly lost: AuditHead | undefined;
    readonly times: TimesNow;
  },
): Promise<boolean> {
  const { businessId, runId, was, lost, times } = of;
  const phase = await phaseOf(trx, runId);
  if (phase === undefined || ENDED_PHASES.includes(phase)) return false;
  if (was.kind === "terminated" && (await maySendMore(trx, runId))) {
    const hold = { businessId, scope: "run", value: runId, reason: STOPPED } as const;
    await holdTerminated(trx, hold, was.closedAtMs);
  }
  if (was.kind === "cancelled") await requestCancel(trx, runId, TEMPORAL, Date.now());
  // A run writes its end into the store before its workflow returns. Without its proof, somebody else
  // has ended the workflow.
  if (lost !== undefined) {
    await holdForLoss(trx, {
      businessId,
      evidence: `the run ${runId} has ended, and the store doesn't know`,
      hadItAtMs: lost.atMs,
      ...times,
    });
  }
  return true;
}
