import type { BusinessProfile } from "../config/business-profile.ts";
import { timesNow } from "../business/clock.ts";
import { spokenTime } from "../domain/clock/spoken.ts";
import { businessOfWorkflow, isOfKind } from "../contracts/workflow-kinds.ts";
import { counted } from "../domain/counted.ts";
import { holdForLoss, lastKept } from "../store/janitor/behind.ts";
import { lostHead, storeMadeAtMs } from "../store/janitor/heads.ts";
import { unknownRuns } from "../store/janitor/open-runs.ts";
import { seenAuditHead } from "../temporal/audit-heads.ts";
import type { JanitorContext } from "./context.ts";
import { executionOf, mayBeStarting, runningSince } from "./executions.ts";
import { lostInHistory } from "./lost-heads.ts";
import { runsWithoutEnd } from "./lost-runs.ts";
import { FOLLOWED } from "./lost-workflows.ts";

/** Processes note more often than this that a store is in use; a backup's last note is older. */
const UNUSED_MS = 300_000;

/**
 * Temporal's clock and the database's may differ by this much. An execution that began later than
 * this after the store's last use was started anew, by a gateway and not by a worker of then.
 */
const CLOCKS_MS = 120_000;

/** A hold's reason names at most this many workflows. */
const NAMED_MOST = 20;

/** Unknown runs whose histories one look reads: anyone can start more. */
const READ_MOST = 50;

/**
 * Holds everything of a business if its store was restored from before runs that Temporal remembers
 * were launched, which their histories prove, or if the store itself is younger than runs there: then
 * it may have been lost, and only a person knows.
 *
 * Other runs that the store doesn't know prove nothing: anyone who may write to Temporal can start
 * some.
 *
 * @param remembered ids of runs, each with the real instant of its start
 */
export async function holdIfRunsAreUnknown(
  context: JanitorContext,
  profile: BusinessProfile,
  remembered: ReadonlyMap<string, number>,
): Promise<void> {
  const { db } = context.store;
  const startedAtMs = (id: string): number => remembered.get(id) ?? 0;
  const mine = [...remembered.keys()].filter((id) => businessOfWorkflow(id) === profile.name);
  const unknown = (await unknownRuns(db, mine)).toSorted(
    (one, other) => startedAtMs(one) - startedAtMs(other),
  );
  if (unknown.length === 0) return;
  const proven: string[] = [];
  for (const id of unknown.slice(0, READ_MOST)) {
    if ((await lostInHistory(context, profile.businessId, id)) !== undefined) proven.push(id);
  }
  const madeAtMs = await storeMadeAtMs(db);
  const before = unknown.filter((id) => startedAtMs(id) < madeAtMs);
  if (proven.length > 0) {
    await hold(context, profile, {
      evidence: `the store doesn't know what Temporal has: ${namesOf(proven)}`,
      hadItAtMs: startedAtMs(proven.at(-1) ?? ""),
    });
  } else if (before.length > 0) {
    await hold(context, profile, {
      evidence: `Temporal has ${counted(before.length, "run")} from before this store was made`,
      hadItAtMs: startedAtMs(before.at(-1) ?? ""),
      maybe: true,
    });
  }
}

/**
 * Holds everything of a business if a run has ended in Temporal that its store has open. A pass
 * would find that too, but not before the janitor's lease has expired that a backup still contains
 * from a worker of that time.
 */
export async function holdIfEndsAreUnknown(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  for (const { workflowId, sinceMs, keep } of await runsWithoutEnd(context, profile)) {
    if (running.has(workflowId)) continue;
    const execution = await executionOf(context.temporal, workflowId);
    if (execution.kind !== "completed" || mayBeStarting(execution, sinceMs)) continue;
    const kept = await keep?.(execution);
    await context.store.transactionOf(profile.businessId, async (trx) => kept?.(trx));
  }
}

/**
 * Asks the runs at work what they have last seen of the store, and holds everything if that is
 * gone.
 */
export async function holdIfRunsHaveSeenMore(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
): Promise<void> {
  const mine = [...running].filter(
    (id) => isOfKind(id, "payRun") && businessOfWorkflow(id) === profile.name,
  );
  for (const workflowId of mine) {
    const seen = await seenAuditHead(context.temporal, workflowId);
    // A run that doesn't respond checks for itself at its next turn.
    const lost = await lostHead(context.store.db, profile.businessId, seen);
    if (lost === undefined) continue;
    await hold(context, profile, {
      evidence: `${workflowId} has seen a later end of its audit trail`,
      hadItAtMs: lost.atMs,
    });
  }
}

/**
 * Holds everything of a business whose workflows Temporal has lost, if its store was not in use
 * until just now. Both may then have been lost together, and nothing remembers what a restored
 * store has lost, for example a cancel or a rejection.
 *
 * If the store was in use all the time, Temporal alone has lost its data.
 */
export async function holdIfBothMayBeLost(context: JanitorContext): Promise<void> {
  const kept = await lastKept(context.store.db);
  if (kept === null || kept.forMs < UNUSED_MS) return;
  const running = await runningSince(context.temporal);
  for (const profile of context.profiles.all()) {
    const lost = await lostWorkflows(context, profile, { running, beforeMs: kept.atMs });
    if (lost.length === 0) continue;
    await hold(context, profile, {
      evidence: `Temporal has lost ${namesOf(lost)}, and the store had not been in use since ${spokenTime(kept.atMs, profile.zone)}`,
      hadItAtMs: kept.atMs,
      maybe: true,
    });
  }
}

/**
 * Returns ids of workflows that had begun by then and that Temporal doesn't know at all, or only
 * since a gateway has started them anew.
 */
async function lostWorkflows(
  context: JanitorContext,
  profile: BusinessProfile,
  {
    running,
    beforeMs,
  }: { readonly running: ReadonlyMap<string, number>; readonly beforeMs: number },
): Promise<string[]> {
  const lost: string[] = [];
  for (const { owed } of Object.values(FOLLOWED)) {
    for (const { workflowId, sinceMs } of await owed(context, profile)) {
      if (sinceMs > beforeMs) continue;
      const startedAtMs = running.get(workflowId);
      const isLost =
        startedAtMs === undefined
          ? (await executionOf(context.temporal, workflowId)).kind === "missing"
          : startedAtMs > beforeMs + CLOCKS_MS;
      if (isLost) lost.push(workflowId);
    }
  }
  return lost;
}

/** Lists the workflows: people check each of them, and launch it again if it is gone. */
function namesOf(workflowIds: readonly string[]): string {
  const rest = workflowIds.length - NAMED_MOST;
  const named = workflowIds.slice(0, NAMED_MOST).join(", ");
  return rest > 0 ? `${named} and ${rest} more` : named;
}

async function hold(
  context: JanitorContext,
  { businessId, name }: BusinessProfile,
  loss: { readonly evidence: string; readonly hadItAtMs: number; readonly maybe?: true },
): Promise<void> {
  const times = await timesNow(context.clockOf(name));
  const isSet = await context.store.transactionOf(businessId, (trx) =>
    holdForLoss(trx, { businessId, ...loss, ...times }),
  );
  if (!isSet) return;
  context.log.warn("the store is older than its runs, or may be: everything is on hold", {
    business: name,
    evidence: loss.evidence,
  });
}
