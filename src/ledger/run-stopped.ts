import { ENDED_PHASES } from "../contracts/pay-run.ts";
import type { Db } from "../store/sql/db.ts";
import { isRejected } from "../store/approvals/decisions.ts";
import type { Run } from "../store/runs/runs.ts";
import { type Closed, closedFor } from "./gate.ts";

/**
 * Whether a run stops what is asked for it. A cancelled or rejected one says no to all of its
 * payments, also to those tried again; one that has ended to its own.
 */
export async function runStopped(
  db: Db,
  run: Run | undefined,
  isOwn: boolean,
): Promise<Closed | null> {
  if (run === undefined) return closedFor("run-ended", "its run is not in the store");
  if (run.cancelRequestedAtMs !== null) return closedFor("run-cancelled", "the run is cancelled");
  if (await isRejected(db, run.runId)) return closedFor("rejected", "the run was rejected");
  const isOver = isOwn && ENDED_PHASES.includes(run.phase);
  return isOver ? closedFor("run-ended", "the run has ended") : null;
}
