import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { ONLY_PLANS, onlyPlans } from "../domain/plan-only.ts";
import { refusalText } from "../domain/planning/decided-before.ts";
import type { Db } from "../store/sql/db.ts";
import { decidedBefore } from "../store/approvals/decided-before.ts";
import { isRejected } from "../store/approvals/decisions.ts";
import type { Run } from "../store/runs/runs.ts";
import { type Closed, closedFor } from "./gate.ts";

/**
 * Returns why a run forbids a payment; null if it doesn't. A run that only plans, was cancelled or
 * was rejected forbids all payments of its lines, retries included. An ended run forbids only its
 * own.
 */
export async function runStopped(
  db: Db,
  run: Run | undefined,
  isOwn: boolean,
): Promise<Closed | null> {
  if (run === undefined) return closedFor("run_ended", "its run is not in the store");
  const planOnly = runOnlyPlans(run);
  if (planOnly !== null) return planOnly;
  if (run.cancelRequestedAtMs !== null) return closedFor("run_cancelled", "the run is cancelled");
  if (await isRejected(db, run.runId)) return closedFor("rejected", "the run was rejected");
  const isOver = isOwn && ENDED_PHASES.includes(run.phase);
  return isOver ? closedFor("run_ended", "the run has ended") : null;
}

/**
 * Returns which bills may not be sent again, because people have rejected them, or left them out, in
 * another run, and nobody has approved them since.
 */
export async function refusedSince(
  db: Db,
  businessId: string,
  payableIds: readonly string[],
): Promise<ReadonlyMap<string, Closed>> {
  const decided = await decidedBefore(db, businessId, { planned: payableIds, compared: [] });
  return new Map(
    [...decided].flatMap(
      ([
        payableId,
        {
          refusals: [last],
        },
      ]) => {
        if (last === undefined) return [];
        return [[payableId, closedFor("refused_since", `${refusalText(last)}, in ${last.runId}.`)]];
      },
    ),
  );
}

/**
 * Returns the refusal if a run only plans: then it moves no money, for any caller and with any
 * approval.
 */
export function runOnlyPlans(run: Run): Closed | null {
  return onlyPlans(run.policy) ? closedFor("plan_only", ONLY_PLANS) : null;
}
