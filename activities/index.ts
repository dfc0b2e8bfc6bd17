import { activityInfo, Context, heartbeat } from "@temporalio/activity";
import type { PayrunActivities, RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../src/contracts/workflow-kinds.ts";
import type { Look } from "../src/contracts/look.ts";
import { forHistory } from "../src/domain/history-texts.ts";
import { getPlan } from "../src/store/plans/plans.ts";
import { getRun } from "../src/store/runs/runs.ts";
import { inFailures } from "./shared/application-failure.ts";
import { assessRun } from "./runs/assess-run.ts";
import { beginRun, failRun } from "./runs/begin-run.ts";
import { assessCancellation } from "./cancel/assess-cancellation.ts";
import { cancelLane } from "./cancel/cancel-lane.ts";
import { chooseCancellation } from "./cancel/choose.ts";
import { followRefunds } from "./cancel/follow-refunds.ts";
import { holdBackFromRun } from "./cancel/hold-back.ts";
import type { ActivityContext } from "./shared/context.ts";
import { followRun } from "./runs/follow-run.ts";
import { fundRun } from "./runs/fund-run.ts";
import { assessIncident } from "./incident/assess-incident.ts";
import { assessOnboarding } from "./onboarding/assess.ts";
import { takeOnboardingStep } from "./onboarding/take-step.ts";
import { launchScheduled } from "./runs/launch-scheduled.ts";
import { runLane } from "./pay/lane.ts";
import { inSlot } from "./pay/slots.ts";
import { planDry, planRun } from "./runs/plan-run.ts";
import { assessRetry } from "./retry/assess-retry.ts";
import { payAgain } from "./retry/pay-again.ts";
import { onStoreNotBehind, withAuditHead } from "./shared/store-behind.ts";
import { makeDeposits } from "./deposit/make-deposit.ts";
import { notifyOfTrouble } from "./notify/trouble.ts";
import { notifying } from "./notify/failing-steps.ts";
import { recordUnread, verifyDecision } from "./runs/verify-decision.ts";

/** The interval of heartbeats, well within the time-out after which a worker counts as dead. */
const BEAT_EVERY_MS = 2_000;

/**
 * Creates every activity, bound to this process's context; failures leave only as
 * ApplicationFailure.
 */
export function createActivities(context: ActivityContext): PayrunActivities {
  const step = <Input, Output>(activity: (input: Input) => Promise<Output>) =>
    inFailures(notifying(context, activity));
  // The history keeps what an activity returns, whatever its workflow shows of it.
  const look = <Input, Now extends Look>(activity: (input: Input) => Promise<Now>) =>
    step(async (input: Input) => forHistory(await activity(input)));
  return {
    openRun: step(({ runId }) =>
      beatingLate(async () => {
        const begun = await beginRun(context, runId);
        if (begun.planned && !begun.ended) await holdBackFromRun(context, runId);
        return begun;
      }),
    ),
    planRun: step((input) =>
      beating(async () => {
        const plan = await planRun(context, input.runId);
        await holdBackFromRun(context, input.runId);
        return plan;
      }),
    ),
    planDry: step((input) => beating(() => planDry(context, input))),
    reviewRun: look(({ runId, ...seen }) =>
      beatingLate(() => withAuditHead(context, runId, seen, () => assessRun(context, runId))),
    ),
    reserveMoney: step(({ runId }) => beatingLate(() => fundRun(context, runId))),
    payBills: step((input) =>
      beating(() => onStoreNotBehind(context, input.runId, input, () => payLane(context, input))),
    ),
    makeDeposits: step(({ owner, ...seen }) =>
      beating(() =>
        onStoreNotBehind(context, owner, seen, () =>
          makeDeposits(context, { owner, by: sender(context) }),
        ),
      ),
    ),
    notifyOperators: inFailures((input) => beatingLate(() => notifyOfTrouble(context, input))),
    followPayments: step(({ runId }) => beating(() => followRun(context, runId))),
    endUnplannedRun: step(({ runId, reason }) =>
      beatingLate(() => failRun(context, runId, reason)),
    ),
    verifyDecision: step((input) => verifyDecision(context, input, activityInfo().attempt)),
    countUnreadDecisions: step((input) =>
      beatingLate(() => recordUnread(context, input, activityInfo().attempt)),
    ),
    reviewFailedPayment: look((input) =>
      beatingLate(() =>
        withAuditHead(context, retryId(input), input, () => assessRetry(context, input)),
      ),
    ),
    reviewIncident: look((input) => beatingLate(() => assessIncident(context, input))),
    reviewCancellation: look(({ id }) => beatingLate(() => assessCancellation(context, id))),
    choosePayments: step(({ id }) => beating(() => chooseCancellation(context, id))),
    cancelPayments: step(({ id }) => beating(() => cancelIn(context, id))),
    followRefunds: step(({ id }) => beating(() => followRefunds(context, id))),
    launchRun: step((input) => beatingLate(() => launchScheduled(context, input))),
    reviewOnboarding: look((input) => beating(() => assessOnboarding(context, input))),
    sendOnboardingStep: step((input) => beating(() => takeOnboardingStep(context, input))),
    payAgain: look((input) =>
      beating(() =>
        withAuditHead(context, retryId(input), input, () =>
          payAgain(context, input, {
            by: sender(context),
            stop: AbortSignal.any([Context.current().cancellationSignal, context.draining]),
          }),
        ),
      ),
    ),
  };
}

function retryId({ business, payableId }: RetryFailedPaymentInput): string {
  return retryFailedPaymentId(business, payableId);
}

const NOTHING_PAID = { leased: 0, applied: 0, unknown: 0 };

async function payLane(
  context: ActivityContext,
  input: { readonly runId: string; readonly lane: number },
): ReturnType<PayrunActivities["payBills"]> {
  const run = await getRun(context.store.db, input.runId);
  // If the store has lost the run meanwhile, the next look says so.
  if (run === undefined) return NOTHING_PAID;
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
  return summary ?? NOTHING_PAID;
}

async function cancelIn(
  context: ActivityContext,
  id: string,
): ReturnType<PayrunActivities["cancelPayments"]> {
  const stop = AbortSignal.any([Context.current().cancellationSignal, context.draining]);
  return cancelLane(context, { id, by: sender(context), stop });
}

/** Names this worker and this try of the activity, so that a later try is known as another. */
function sender(context: ActivityContext): string {
  const { activityId, attempt } = activityInfo();
  return `${context.workerId}/${activityId}/${attempt}`;
}

async function beating<T>(work: () => Promise<T>): Promise<T> {
  heartbeat();
  return beatingLate(work);
}

/**
 * Beats only after the first interval, for short steps: each beat that reaches the server has a
 * cost, and most of these steps end before the first.
 */
async function beatingLate<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), BEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
