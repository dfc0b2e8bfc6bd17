import { activityInfo, Context, heartbeat } from "@temporalio/activity";
import type { PayrunActivities, RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../src/contracts/names.ts";
import { getPlan } from "../src/store/plans.ts";
import { getRun } from "../src/store/runs.ts";
import { inFailures } from "./application-failure.ts";
import { assessRun } from "./assess-run.ts";
import { beginRun, failRun } from "./begin-run.ts";
import { assessCancellation } from "./cancel/assess-cancellation.ts";
import { cancelLane } from "./cancel/cancel-lane.ts";
import { chooseCancellation } from "./cancel/choose.ts";
import { followRefunds } from "./cancel/follow-refunds.ts";
import { withholdFromRun } from "./cancel/withhold.ts";
import type { ActivityContext } from "./context.ts";
import { followRun } from "./follow-run.ts";
import { fundRun } from "./fund-run.ts";
import { assessIncident } from "./incident/assess-incident.ts";
import { assessOnboarding } from "./kyb/assess.ts";
import { takeOnboardingStep } from "./kyb/take-step.ts";
import { launchScheduled } from "./launch-scheduled.ts";
import { runLane } from "./pay/lane.ts";
import { inSlot } from "./pay/slots.ts";
import { createPlanActivities } from "./plan-run.ts";
import { assessRetry } from "./retry/assess-retry.ts";
import { payRetry } from "./retry/pay-retry.ts";
import { onStoreNotBehind, withAuditHead } from "./store-behind.ts";
import { makeDeposits } from "./top-up/make-deposit.ts";
import { tellTrouble } from "./tell-trouble.ts";
import { recordUnread, verifyDecision } from "./verify-decision.ts";

/** Heartbeats go out at this pace, well within the time-out after which a worker counts as dead. */
const BEAT_EVERY_MS = 2_000;

/** Every activity, bound to what this process stands on; failures leave only as ApplicationFailure. */
export function createActivities(context: ActivityContext): PayrunActivities {
  const planning = createPlanActivities(context);
  return {
    beginRun: inFailures(({ runId }) =>
      beatingLate(async () => {
        const begun = await beginRun(context, runId);
        if (begun.planned && !begun.ended) await withholdFromRun(context, runId);
        return begun;
      }),
    ),
    planRun: inFailures((input) =>
      beating(async () => {
        const plan = await planning.planRun(input);
        await withholdFromRun(context, input.runId);
        return plan;
      }),
    ),
    planDry: inFailures((input) => beating(() => planning.planDry(input))),
    assessRun: inFailures(({ runId, ...seen }) =>
      beatingLate(() => withAuditHead(context, runId, seen, () => assessRun(context, runId))),
    ),
    fundRun: inFailures(({ runId }) => beatingLate(() => fundRun(context, runId))),
    payLane: inFailures((input) =>
      beating(() => onStoreNotBehind(context, input.runId, input, () => payLane(context, input))),
    ),
    makeDeposits: inFailures(({ owner, ...seen }) =>
      beating(() =>
        onStoreNotBehind(context, owner, seen, () =>
          makeDeposits(context, { owner, by: sender(context) }),
        ),
      ),
    ),
    tellTrouble: inFailures((input) => beatingLate(() => tellTrouble(context, input))),
    followRun: inFailures(({ runId }) => beating(() => followRun(context, runId))),
    failRun: inFailures(({ runId, reason }) => beatingLate(() => failRun(context, runId, reason))),
    verifyDecision: inFailures((input) => verifyDecision(context, input, activityInfo().attempt)),
    recordUnread: inFailures((input) =>
      beatingLate(() => recordUnread(context, input, activityInfo().attempt)),
    ),
    assessRetry: inFailures((input) =>
      beatingLate(() =>
        withAuditHead(context, retryId(input), input, () => assessRetry(context, input)),
      ),
    ),
    assessIncident: inFailures((input) => beatingLate(() => assessIncident(context, input))),
    assessCancellation: inFailures(({ id }) => beatingLate(() => assessCancellation(context, id))),
    chooseCancellation: inFailures(({ id }) => beating(() => chooseCancellation(context, id))),
    cancelLane: inFailures(({ id }) => beating(() => cancelIn(context, id))),
    followRefunds: inFailures(({ id }) => beating(() => followRefunds(context, id))),
    launchScheduled: inFailures((input) => beatingLate(() => launchScheduled(context, input))),
    assessOnboarding: inFailures((input) => beating(() => assessOnboarding(context, input))),
    takeOnboardingStep: inFailures((input) => beating(() => takeOnboardingStep(context, input))),
    payRetry: inFailures((input) =>
      beating(() =>
        onStoreNotBehind(context, retryId(input), input, () => payAgain(context, input)),
      ),
    ),
  };
}

function retryId({ business, payableId }: RetryFailedPaymentInput): string {
  return retryFailedPaymentId(business, payableId);
}

async function payLane(
  context: ActivityContext,
  input: { readonly runId: string; readonly lane: number },
): ReturnType<PayrunActivities["payLane"]> {
  const run = await getRun(context.store.db, input.runId);
  if (run === undefined) throw new Error(`run ${input.runId} is not in the store`);
  const plan = await getPlan(context.store.db, input.runId);
  const stop = AbortSignal.any([Context.current().cancellationSignal, context.draining]);
  const lane = {
    owner: run.runId,
    runId: run.runId,
    business: run.business,
    businessId: run.businessId,
    playbook: run.playbook,
    policy: run.policy,
    plannedAtMs: run.plannedAtMs ?? plan?.createdAtMs ?? 0,
    by: sender(context),
    stop,
    beat: (paid: number) => heartbeat({ paid }),
  };
  const { businessId } = run;
  const summary = await inSlot(context.store, { kind: "lane", businessId }, stop, () =>
    runLane(context, lane),
  );
  return summary ?? { drawn: 0, applied: 0, unknown: 0 };
}

async function payAgain(context: ActivityContext, input: RetryFailedPaymentInput): Promise<void> {
  const { businessId } = context.profileOf(input.business);
  const stop = AbortSignal.any([Context.current().cancellationSignal, context.draining]);
  const by = sender(context);
  await inSlot(context.store, { kind: "retry", businessId }, stop, () =>
    payRetry(context, input, by),
  );
}

async function cancelIn(
  context: ActivityContext,
  id: string,
): ReturnType<PayrunActivities["cancelLane"]> {
  const stop = AbortSignal.any([Context.current().cancellationSignal, context.draining]);
  return cancelLane(context, { id, by: sender(context), stop });
}

/** Names this worker and this try of the activity, so that a later try knows it is another. */
function sender(context: ActivityContext): string {
  const { activityId, attempt } = activityInfo();
  return `${context.workerId}/${activityId}/${attempt}`;
}

async function beating<T>(work: () => Promise<T>): Promise<T> {
  heartbeat();
  return beatingLate(work);
}

/** For short steps: each beat that reaches the server costs, and most end before the first. */
async function beatingLate<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), BEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
