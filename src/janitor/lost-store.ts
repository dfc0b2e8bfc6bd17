import type { BusinessProfile } from "../config/business-profile.ts";
import { serviceTimeMs } from "../business/clock.ts";
import { businessOfWorkflow } from "../contracts/names.ts";
import { hasAuditHead, holdForLoss } from "../store/janitor/behind.ts";
import { unknownRuns } from "../store/janitor/open-runs.ts";
import { seenAuditHead } from "../temporal/audit-heads.ts";
import type { JanitorContext } from "./context.ts";

/**
 * Holds everything of a business where Temporal remembers runs that its store doesn't know: the
 * store was restored from before they were launched, or is empty.
 *
 * @param remembered ids of runs, each with the real instant of its start
 */
export async function holdIfRunsAreUnknown(
  context: JanitorContext,
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
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const mine = [...running].filter(
    (id) => id.startsWith("pay-run/") && businessOfWorkflow(id) === profile.name,
  );
  for (const workflowId of mine) {
    const seen = await seenAuditHead(context.temporal, workflowId);
    // A run that doesn't answer checks for itself at its next turn.
    if (seen === undefined) continue;
    if (await hasAuditHead(context.store.db, profile.businessId, seen.hash)) continue;
    await hold(context, profile, {
      evidence: `${workflowId} has seen a later end of its audit trail`,
      hadItAtMs: seen.atMs,
    });
  }
}

async function hold(
  context: JanitorContext,
  { businessId, name }: BusinessProfile,
  loss: { readonly evidence: string; readonly hadItAtMs: number },
): Promise<void> {
  const serviceMs = await serviceTimeMs(context.clockOf(name));
  const isSet = await context.store.transactionOf(businessId, (trx) =>
    holdForLoss(trx, { businessId, ...loss, serviceMs }),
  );
  if (!isSet) return;
  context.log.warn("the store is older than its runs: everything is on hold", {
    business: name,
    evidence: loss.evidence,
  });
}
