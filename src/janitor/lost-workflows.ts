import { FOLLOWER_STARTED, workflowStopped } from "../domain/facts/businesses.ts";
import { record } from "../store/facts/record.ts";
import { MINUTE_MS } from "../contracts/durations.ts";
import { howStopped, type Stopped } from "../domain/notices/temporal-texts.ts";
import { workflowTrouble } from "../domain/step-trouble.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { getCancellation, openCancellations } from "../store/cancellations/cancellations.ts";
import { incidentsToFollow } from "../store/incidents/incidents.ts";
import { startOrSignal } from "../temporal/start.ts";
import { WORKFLOW, WORKFLOW_KINDS, type WorkflowKindName } from "../contracts/workflow-kinds.ts";
import { PAYRUN } from "../contracts/authors.ts";
import type { JanitorContext } from "./context.ts";
import { type Execution, executionOf, isTaskLate, mayBeStarting } from "./executions.ts";
import { onboardingsOwed } from "./lost-onboardings.ts";
import { runsWithoutEnd } from "./lost-runs.ts";
import type { Owed } from "./owed.ts";
import { ownedRetries } from "../store/janitor/open-runs.ts";
import { showTrouble } from "../store/janitor/show-trouble.ts";
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
    subject: payableId,
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
  /** The workflow's type and queue: what runs under its id otherwise is not Payrun's. */
  readonly type: string;
  readonly taskQueue: string;
  /** Shown to people if it fails. */
  readonly step: string;
  readonly noun: string;
  readonly started: (typeof FOLLOWER_STARTED)[WorkflowKindName];
  readonly owed: (context: JanitorContext, profile: BusinessProfile) => Promise<readonly Owed[]>;
}

const KINDS: Readonly<
  Record<WorkflowKindName, Omit<FollowedKind, "type" | "taskQueue" | "started">>
> = {
  payRun: { step: "Following runs without a workflow", noun: "a run", owed: runsWithoutEnd },
  retryFailedPayment: {
    step: "Following retries without a workflow",
    noun: "a failed bill",
    owed: openRetries,
  },
  kybOnboarding: {
    step: "Following an onboarding without a workflow",
    noun: "an onboarding",
    owed: onboardingsOwed,
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
          subject: workflowId,
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
          subject: sourceId,
          keep: async () => async (trx) =>
            (await incidentsToFollow(trx, businessId)).some((each) => each.sourceId === sourceId),
          start: () =>
            startOrSignal(temporal, WORKFLOW_KINDS.fundingIncident, { business: name, sourceId }),
        }),
      ),
  },
};

export const FOLLOWED = Object.fromEntries(
  Object.entries(KINDS).map(([name, kind]) => {
    const { workflow, taskQueue } = WORKFLOW_KINDS[name as WorkflowKindName];
    const started = FOLLOWER_STARTED[name as WorkflowKindName];
    return [name, { ...kind, started, type: WORKFLOW[workflow], taskQueue }];
  }),
) as Readonly<Record<WorkflowKindName, FollowedKind>>;

/** Running workflows of a kind that one pass looks at: the next pass looks at the next ones. */
const LOOKED_AT = 50;

/**
 * Tries of one task after which operators hear that its workflow can't go on. Workers that are
 * replaced fail a task once or twice.
 */
const TASK_TRIES = 5;

/** Busy workers take a task within seconds, and new ones take those that have waited for them. */
const TASK_WAITS_MS = 3 * MINUTE_MS;

/** Payrun's own workflows begin at once; clocks may differ by this much. */
const PUT_OFF_MS = 5 * MINUTE_MS;

/**
 * Starts a new workflow for every row of a kind that has lost its own, and notifies operators of
 * those that run and can't go on.
 */
export async function followLost(
  context: JanitorContext,
  profile: BusinessProfile,
  running: ReadonlySet<string>,
  kind: FollowedKind,
): Promise<void> {
  const { businessId } = profile;
  const { noun, owed } = kind;
  const all = await owed(context, profile);
  for (const { workflowId, sinceMs, subject, keep, start } of all) {
    if (running.has(workflowId)) continue;
    const execution = await executionOf(context.temporal, workflowId);
    if (execution.kind === "running") {
      await notifyIfStopped(context, profile, kind, workflowId, execution);
      continue;
    }
    if (mayBeStarting(execution, sinceMs)) continue;
    const kept = await keep?.(execution);
    const isLost = await context.store.transactionOf(businessId, async (trx) => {
      if (kept !== undefined && !(await kept(trx))) return false;
      const head = { businessId, nowMs: Date.now(), by: PAYRUN, subject };
      await record(trx, kind.started(head, { workflowId, workflow: execution.kind }));
      return true;
    });
    if (!isLost) continue;
    await start();
    context.log.warn(`${noun} had lost its workflow and got a new one`, {
      workflowId,
      was: execution.kind,
    });
  }
  for (const workflowId of someOf(
    all.map((each) => each.workflowId).filter((id) => running.has(id)),
  )) {
    const execution = await executionOf(context.temporal, workflowId);
    if (execution.kind !== "running") continue;
    await notifyIfStopped(context, profile, kind, workflowId, execution);
  }
}

/** Returns some of the ids, others in each pass, until all have had their turn. */
function someOf(workflowIds: readonly string[]): readonly string[] {
  const rounds = Math.ceil(workflowIds.length / LOOKED_AT);
  if (rounds <= 1) return workflowIds;
  const round = Math.floor(Date.now() / MINUTE_MS) % rounds;
  return workflowIds.slice(round * LOOKED_AT, (round + 1) * LOOKED_AT);
}

type Running = Extract<Execution, { readonly kind: "running" }>;

function whyStopped(kind: FollowedKind, shown: Running): Stopped | undefined {
  const isOurs = shown.type === kind.type && shown.taskQueue === kind.taskQueue;
  if (!isOurs || shown.putOffMs > PUT_OFF_MS) return "id-taken";
  if (shown.tries >= TASK_TRIES) return "tasks-fail";
  return shown.waitsMs > TASK_WAITS_MS ? "tasks-wait" : undefined;
}

/**
 * Says in its run or retry, and notifies operators once for each execution, that Temporal shows a
 * workflow as running and that it doesn't go on: nothing else would say so.
 */
async function notifyIfStopped(
  { store, temporal }: JanitorContext,
  { businessId }: BusinessProfile,
  kind: FollowedKind,
  workflowId: string,
  shown: Running,
): Promise<void> {
  const found = whyStopped(kind, shown);
  if (found === undefined) return;
  const mayBeLate = found === "tasks-fail" && (await isTaskLate(temporal, workflowId, shown.runId));
  const why = mayBeLate ? "tasks-late" : found;
  await store.transactionOf(businessId, async (trx) => {
    await showTrouble(trx, workflowId, workflowTrouble(workflowId, howStopped(why)));
    const stopped = { workflowId, executionId: shown.runId, why };
    await record(trx, workflowStopped({ businessId, nowMs: Date.now() }, stopped));
  });
}
