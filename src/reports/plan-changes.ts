import type { PlanChanges } from "../api/plan-changes.ts";
import type { PlanLine } from "../contracts/pay-run.ts";
import type { Db } from "../store/index.ts";
import { linesChangedSince } from "../store/plans/plan-changes.ts";
import type { Run } from "../store/runs/runs.ts";

/**
 * Returns how a run's plan has changed since a person looked; undefined if that hash is no plan of
 * this run.
 */
export async function planChangesSince(
  db: Db,
  { runId, planHash }: Run,
  since: string,
): Promise<PlanChanges | undefined> {
  const lines = await linesChangedSince(db, runId, since);
  if (lines === undefined || planHash === null) return undefined;
  return {
    since,
    planHash,
    lines: lines.map(({ before, after, reason }) => ({
      payableId: after.payableId,
      publicId: after.publicId,
      contactName: after.contactName,
      before: shown(before),
      after: shown(after),
      reason,
    })),
  };
}

function shown({ amountCents, executionDate, bankLast4, approvers }: PlanLine) {
  return { amountCents, executionDate, bankLast4, approvers };
}
