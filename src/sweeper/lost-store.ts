import type { BusinessProfile } from "../config/business-profile.ts";
import type { Assessment } from "../contracts/activities.ts";
import { businessOfWorkflow, QUERY } from "../contracts/names.ts";
import { hasAuditHead, holdForLoss } from "../store/sweep-behind.ts";
import { unknownRuns } from "../store/sweep.ts";
import type { SweeperContext } from "./context.ts";

/** A run that doesn't answer checks for itself at its next turn. */
const ANSWER_MS = 3_000;

/**
 * Holds everything of a business where Temporal remembers runs that its store doesn't know: the
 * store was restored from before they were launched, or is empty.
 *
 * @param remembered ids of runs, each with the real instant of its start
 */
export async function holdIfRunsAreUnknown(
  context: SweeperContext,
  profile: BusinessProfile,
  remembered: ReadonlyMap<string, number>,
): Promise<void> {
  const mine = [...remembered.keys()].filter((id) => businessOfWorkflow(id) === profile.name);
  const unknown = await unknownRuns(context.store.db, mine);
  const [latest] = unknown.toSorted(
    (one, other) => (remembered.get(other) ?? 0) - (remembered.get(one) ?? 0),
  );
  if (latest === undefined) return;
  const others = unknown.length === 1 ? "" : ` and ${unknown.length - 1} more`;
  await hold(context, profile, {
    evidence: `Temporal has the run ${latest}${others}, which the store doesn't know`,
    hadItAtMs: remembered.get(latest) ?? 0,
  });
}

/** Asks the runs at work what they have last seen of the store, and holds everything where it is gone. */
export async function holdIfRunsHaveSeenMore(
  context: SweeperContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const mine = [...running].filter(
    (id) => id.startsWith("pay-run/") && businessOfWorkflow(id) === profile.name,
  );
  for (const workflowId of mine) {
    const seen = (await lastAssessment(context, workflowId))?.auditHead;
    if (seen === undefined) continue;
    if (await hasAuditHead(context.store.db, profile.businessId, seen.hash)) continue;
    await hold(context, profile, {
      evidence: `${workflowId} has seen a later end of its audit trail`,
      hadItAtMs: seen.atMs,
    });
  }
}

async function lastAssessment(
  { temporal }: SweeperContext,
  workflowId: string,
): Promise<Assessment | null> {
  const handle = temporal.workflow.getHandle(workflowId);
  try {
    return await temporal.withDeadline(Date.now() + ANSWER_MS, () =>
      handle.query<Assessment | null>(QUERY.progress),
    );
  } catch {
    return null;
  }
}

async function hold(
  context: SweeperContext,
  { businessId, name }: BusinessProfile,
  loss: { readonly evidence: string; readonly hadItAtMs: number },
): Promise<void> {
  const isSet = await context.store.transaction((trx) =>
    holdForLoss(trx, { businessId, ...loss, nowMs: Date.now() }),
  );
  if (!isSet) return;
  context.log.warn("the store is older than its runs: everything is on hold", {
    business: name,
    evidence: loss.evidence,
  });
}
