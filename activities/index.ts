import { activityInfo, Context, heartbeat } from "@temporalio/activity";
import type { PayrunActivities, RetryFailedPaymentInput } from "../src/contracts/activities.ts";
import { retryFailedPaymentId } from "../src/contracts/workflow-kinds.ts";
import type { Look } from "../src/contracts/look.ts";
import { forHistory } from "../src/domain/history-texts.ts";
import { getRun } from "../src/store/runs/runs.ts";
import { inFailures } from "./shared/application-failure.ts";
import { beating, beatingLate } from "./shared/beating.ts";
import { OWN_INPUT, onOwnInput } from "./shared/own-input.ts";
import { Places, sayingWhy } from "./shared/places.ts";
import type { PoolName } from "../src/domain/places.ts";
import { reviewRun } from "./runs/review-run.ts";
import { openRun } from "./runs/open-run.ts";
import { reviewCancellation } from "./cancel/review-cancellation.ts";
import { cancelPayments } from "./cancel/cancel-payments.ts";
import { choosePayments } from "./cancel/choose-payments.ts";
import { followRefunds } from "./cancel/follow-refunds.ts";
import type { ActivityContext } from "./shared/context.ts";
import { followPayments } from "./runs/follow-payments.ts";
import { reserveMoney } from "./runs/reserve-money.ts";
import { reviewIncident } from "./incident/review-incident.ts";
import { reviewOnboarding } from "./onboarding/review-onboarding.ts";
import { sendOnboardingStep } from "./onboarding/send-onboarding-step.ts";
import { launchRun } from "./runs/launch-run.ts";
import { runLane } from "./pay/lane.ts";
import { runOwner } from "./pay/run-owner.ts";
import { inSlot } from "./pay/slots.ts";
import { planDry } from "./runs/plan-dry.ts";
import { planRun } from "./runs/plan-run.ts";
import { reviewFailedPayment } from "./retry/review-failed-payment.ts";
import { payAgain } from "./retry/pay-again.ts";
import { onStoreNotBehind, withAuditHead } from "./shared/store-behind.ts";
import { makeDeposits } from "./deposit/make-deposit.ts";
import { notifying } from "./notify/failing-steps.ts";
import { verifyDecision } from "./runs/verify-decision.ts";

/**
 * Creates every activity, bound to this process's context; failures leave only as
 * ApplicationFailure.
 */
export function createActivities(context: ActivityContext): PayrunActivities {
  const { step, plan, money, follow, look, retry } = placed(context);
  return {
    openRun: step("run", ({ runId }) =>
      beatingLate(() => withAuditHead(context, runId, {}, () => openRun(context, runId))),
    ),
    planRun: plan("run", ({ runId }) => beating(() => planRun(context, runId))),
    planDry: plan("dryPlan", (input) => beating(() => planDry(context, input))),
    reviewRun: look("run", ({ runId, ...seen }) =>
      beatingLate(() => withAuditHead(context, runId, seen, () => reviewRun(context, runId))),
    ),
    reserveMoney: step("run", ({ runId }) => beatingLate(() => reserveMoney(context, runId))),
    payBills: money("run", (input) =>
      beating(() => onStoreNotBehind(context, input.runId, input, () => payLane(context, input))),
    ),
    makeDeposits: money("deposits", ({ owner, ...seen }) =>
      beating(() =>
        onStoreNotBehind(context, owner, seen, () =>
          makeDeposits(context, { owner, by: sender(context) }),
        ),
      ),
    ),
    followPayments: follow("run", ({ runId }) => beating(() => followPayments(context, runId))),
    // Its sender waits, and it reads nothing of the service.
    verifyDecision: own(
      "run",
      notifying(context, (input) => verifyDecision(context, input)),
    ),
    reviewFailedPayment: retry("retry", (input) =>
      beatingLate(() =>
        withAuditHead(context, retryId(input), input, () => reviewFailedPayment(context, input)),
      ),
    ),
    reviewIncident: look("incident", (input) => beatingLate(() => reviewIncident(context, input))),
    reviewCancellation: look("cancellation", ({ id }) =>
      beatingLate(() => reviewCancellation(context, id)),
    ),
    choosePayments: step("cancellation", ({ id }) => beating(() => choosePayments(context, id))),
    cancelPayments: step("cancellation", ({ id }) => beating(() => cancelIn(context, id))),
    followRefunds: step("cancellation", ({ id }) => beating(() => followRefunds(context, id))),
    launchRun: step("launcher", (input) =>
      beatingLate(() => launchRun(context, input, activityInfo().scheduledTimestampMs)),
    ),
    reviewOnboarding: look("onboarding", (input) =>
      beating(() => reviewOnboarding(context, input)),
    ),
    sendOnboardingStep: step("onboarding", (input) =>
      beating(() => sendOnboardingStep(context, input)),
    ),
    payAgain: retry("retry", (input) =>
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

type Own = keyof typeof OWN_INPUT;

/** Makes an activity of a function; it takes only inputs of this kind. */
function own<Input, Output>(kind: Own, activity: (input: Input) => Promise<Output>) {
  return inFailures(onOwnInput(OWN_INPUT[kind], activity));
}

/** Returns what makes an activity of a function, each with the pool in which it has a place. */
function placed(context: ActivityContext) {
  const places = new Places(context);
  const at =
    (pool: PoolName) =>
    <Input, Output>(kind: Own, activity: (input: Input) => Promise<Output>) =>
      own(
        kind,
        notifying(context, (input: Input) => places.within(pool, () => activity(input))),
      );
  // The history keeps what an activity returns, whatever its workflow shows of it.
  const lookAt =
    (pool: PoolName) =>
    <Input, Now extends Look>(kind: Own, activity: (input: Input) => Promise<Now>) =>
      at(pool)(kind, async (input: Input) => forHistory(await activity(input)));
  return {
    step: at("steps"),
    plan: at("planning"),
    money: at("money"),
    follow: at("following"),
    look: lookAt("steps"),
    retry: lookAt("retries"),
  };
}

function retryId({ business, payableId }: RetryFailedPaymentInput): string {
  return retryFailedPaymentId(business, payableId);
}

const LANES_TAKEN = "its turn: as many lanes as a business may have pay its other bills";

const NOTHING_PAID = { leased: 0, applied: 0, unknown: 0 };

async function payLane(
  context: ActivityContext,
  input: { readonly runId: string; readonly lane: number },
): ReturnType<PayrunActivities["payBills"]> {
  const run = await getRun(context.store.db, input.runId);
  // If the store has lost the run meanwhile, the next look says so.
  if (run === undefined) return NOTHING_PAID;
  const stop = AbortSignal.any([Context.current().cancellationSignal, context.draining]);
  const lane = {
    ...(await runOwner(context, run, sender(context))),
    stop,
    beat: (paid: number) => heartbeat({ paid }),
  };
  const { businessId } = run;
  const summary = await inSlot(
    context.store,
    { kind: "lane", businessId },
    stop,
    () => runLane(context, lane),
    (turn) => sayingWhy(context, run.runId, () => LANES_TAKEN, turn),
  );
  return summary ?? NOTHING_PAID;
}

async function cancelIn(
  context: ActivityContext,
  id: string,
): ReturnType<PayrunActivities["cancelPayments"]> {
  const stop = AbortSignal.any([Context.current().cancellationSignal, context.draining]);
  return cancelPayments(context, { id, by: sender(context), stop });
}

/** Names this worker and this try of the activity, so that a later try is known as another. */
function sender(context: ActivityContext): string {
  const { activityId, attempt } = activityInfo();
  return `${context.workerId}/${activityId}/${attempt}`;
}
