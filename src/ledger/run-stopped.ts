import { ENDED_PHASES } from "../contracts/pay-run.ts";
import type { Db } from "../store/sql/db.ts";
import { isRejected } from "../store/approvals/decisions.ts";
import type { Run } from "../store/runs/runs.ts";
import { type Closed, closedFor } from "./gate.ts";

/**
 * Says whether a run forbids a payment. A cancelled or rejected run forbids all payments of its
 * lines, retries included; an ended run forbids its own only.
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
