import type { BusinessProfile } from "../config/business-profile.ts";
import { appendAudit } from "../store/audit/audit.ts";
import { getCancellation, openCancellations } from "../store/cancellations/cancellations.ts";
import { incidentsToFollow } from "../store/incidents/incidents.ts";
import { startOrSignal } from "../temporal/start.ts";
import { WORKFLOW_KINDS, type WorkflowKindName } from "../contracts/workflow-kinds.ts";
import { OWN_AUTHOR } from "../contracts/names.ts";
import type { JanitorContext } from "./context.ts";
import { executionOf, mayBeStarting } from "./executions.ts";
import { openOnboarding } from "./lost-onboardings.ts";
import { runsWithoutEnd } from "./lost-runs.ts";
import type { Owed } from "./owed.ts";
import { ownedRetries } from "../store/janitor/open-runs.ts";
import { isOpenSubject } from "../store/payables/open-subjects.ts";
import { holdTerminated } from "./hold-terminated.ts";

const STOPPED =
  "The workflow that owns this failed bill was terminated in Temporal. It is followed, and not " +
  "paid again until a person releases this hold.";

/**
 * Returns failed and returned bills that a retry owns. A new workflow reads everything about the
 * bill again before it does anything.
 */
async function openRetries(
  { store, temporal }: JanitorContext,
  { businessId, name }: BusinessProfile,
): Promise<Owed[]> {
  const owned = await ownedRetries(store.db, businessId);
  return owned.map(({ workflowId, payableId, updatedAtMs, maySend }) => ({
    workflowId,
    sinceMs: updatedAtMs,
    entry: { action: "retry.follower-started", subject: payableId },
    keep: async (was) => async (trx) => {
      if (was.kind !== "terminated" && was.kind !== "cancelled") return true;
      const mayStillPay = await isOpenSubject(trx, businessId, payableId);
      const hold = { businessId, scope: "payable", value: payableId, reason: STOPPED } as const;
      if (maySend || mayStillPay) await holdTerminated(trx, hold, was.closedAtMs);
      return true;
    },
    start: () =>
      startOrSignal(temporal, WORKFLOW_KINDS.retryFailedPayment, { business: name, payableId }),
  }));
}

/** One kind of workflow, with the rows of a business that must have one. */
interface FollowedKind {
  /** Shown to people if it fails. */
  readonly step: string;
  readonly noun: string;
  readonly owed: (context: JanitorContext, profile: BusinessProfile) => Promise<readonly Owed[]>;
}

export const FOLLOWED: Readonly<Record<WorkflowKindName, FollowedKind>> = {
  payRun: { step: "Following runs without a workflow", noun: "a run", owed: runsWithoutEnd },
  retryFailedPayment: {
    step: "Following retries without a workflow",
    noun: "a failed bill",
    owed: openRetries,
  },
  kybOnboarding: {
    step: "Following an onboarding without a workflow",
    noun: "an onboarding",
    owed: openOnboarding,
  },
  cancelScheduledPayments: {
    step: "Following cancellations without a workflow",
    noun: "a cancellation",
    // The new workflow reads each payment before it sends anything; the holds are rows of the
    // store.
    owed: async ({ store, temporal }, { businessId, name: business }) =>
      (await openCancellations(store.db, businessId)).map(
        ({ workflowId, playbook, requestedBy, requestedAtMs }) => ({
          workflowId,
          sinceMs: requestedAtMs,
          entry: { action: "cancellation.follower-started", subject: workflowId },
          keep: async () => async (trx) =>
            (await getCancellation(trx, workflowId))?.endedAtMs === null,
          start: () =>
            startOrSignal(temporal, WORKFLOW_KINDS.cancelScheduledPayments, {
              workflowId,
              business,
              playbook,
              requestedBy,
            }),
        }),
      ),
  },
  fundingIncident: {
    step: "Following incidents without a workflow",
    noun: "an incident",
    // Even if a person ended it in Temporal: only a decision lets its money go.
    owed: async ({ store, temporal }, { businessId, name }) =>
      (await incidentsToFollow(store.db, businessId)).map(
        ({ workflowId, sourceId, openedAtMs }) => ({
          workflowId,
          sinceMs: openedAtMs,
          entry: { action: "incident.follower-started", subject: sourceId },
          keep: async () => async (trx) =>
            (await incidentsToFollow(trx, businessId)).some((each) => each.sourceId === sourceId),
          start: () =>
            startOrSignal(temporal, WORKFLOW_KINDS.fundingIncident, { business: name, sourceId }),
        }),
      ),
  },
};

/** Starts a new workflow for every row of a kind that has lost its own. */
export async function followLost(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
  { noun, owed }: FollowedKind,
): Promise<void> {
  const { businessId } = profile;
  for (const { workflowId, sinceMs, entry, keep, start } of await owed(context, profile)) {
    if (running.has(workflowId)) continue;
    const execution = await executionOf(context.temporal, workflowId);
    if (execution.kind === "running" || mayBeStarting(execution, sinceMs)) continue;
    const kept = await keep?.(execution);
    const isLost = await context.store.transactionOf(businessId, async (trx) => {
      if (kept !== undefined && !(await kept(trx))) return false;
      const details = { workflowId, workflow: execution.kind };
      await appendAudit(trx, {
        businessId,
        nowMs: Date.now(),
        actor: OWN_AUTHOR,
        ...entry,
        details,
      });
      return true;
    });
    if (!isLost) continue;
    await start();
    context.log.warn(`${noun} had lost its workflow and got a new one`, {
      workflowId,
      was: execution.kind,
    });
  }
}
