import { proxyActivities } from "@temporalio/workflow";
import type { PayrunActivities } from "../src/contracts/activities.ts";
import { MASS_QUEUE } from "../src/contracts/names.ts";

/**
 * Short activities heartbeat only when they run long, so that a dead or frozen worker is still
 * noticed.
 */
const SHORT = {
  startToCloseTimeout: "2 minutes",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "500ms", maximumInterval: "30s" },
} as const;

/** Long activities heartbeat all the time: a dead or frozen worker is noticed within seconds. */
const LONG = {
  startToCloseTimeout: "30 minutes",
  heartbeatTimeout: "8 seconds",
  retry: { initialInterval: "500ms", maximumInterval: "30s" },
} as const;

/** Short writes to the store and reads of the service. Temporal retries them until they succeed. */
export const steps =
  proxyActivities<
    Pick<
      PayrunActivities,
      "openRun" | "reviewRun" | "reserveMoney" | "reviewIncident" | "reviewCancellation"
    >
  >(SHORT);

/** `steps` for failed payments, on a queue of their own: thousands may bounce on one day. */
export const retries = proxyActivities<Pick<PayrunActivities, "reviewFailedPayment">>({
  ...SHORT,
  taskQueue: MASS_QUEUE.retries,
});

/**
 * Activities that read many pages. They heartbeat, so that a dead worker is noticed, and have time
 * for three lists of a million items each.
 */
export const reads = proxyActivities<Pick<PayrunActivities, "planRun" | "planDry">>({
  taskQueue: MASS_QUEUE.reading,
  startToCloseTimeout: "4 hours",
  heartbeatTimeout: "30 seconds",
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/** Page-by-page reads that a run waits for: a dead worker is noticed within seconds. */
export const pages = proxyActivities<Pick<PayrunActivities, "followPayments">>({
  taskQueue: MASS_QUEUE.reading,
  startToCloseTimeout: "30 minutes",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/**
 * Cancels, and the reads before and after them. They stay on the workflow's own queue: people wait
 * for them, and the cut-off approaches.
 */
export const cancels =
  proxyActivities<Pick<PayrunActivities, "choosePayments" | "cancelPayments" | "followRefunds">>(
    LONG,
  );

/**
 * Second and later payments of a failed bill. They take priority over looks at payments that are on
 * their way.
 */
export const money = proxyActivities<Pick<PayrunActivities, "payAgain">>({
  ...LONG,
  taskQueue: MASS_QUEUE.retries,
  priority: { priorityKey: 2 },
});

/**
 * Payments and deposits, which run beside the workflow's turns. After nine tries the failure
 * reaches the workflow, which looks again before it starts another activity. Operators were notified
 * by then: the ninth try does so before it begins.
 */
export const lanes = proxyActivities<Pick<PayrunActivities, "payBills" | "makeDeposits">>({
  ...LONG,
  taskQueue: MASS_QUEUE.money,
  retry: { ...LONG.retry, maximumAttempts: 9 },
});

/** Launches. Temporal retries them until the store and Temporal have accepted them. */
export const launches = proxyActivities<Pick<PayrunActivities, "launchRun">>({
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/** Steps of an onboarding. They read and write at the service and heartbeat while they do. */
export const onboarding = proxyActivities<
  Pick<PayrunActivities, "reviewOnboarding" | "sendOnboardingStep">
>({
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "8 seconds",
  retry: { initialInterval: "500ms", maximumInterval: "30s" },
});

/** Decisions sent as updates: the sender waits, so they are tried for a short time only. */
export const answers = proxyActivities<Pick<PayrunActivities, "verifyDecision">>({
  startToCloseTimeout: "30 seconds",
  retry: { maximumAttempts: 3 },
});

/**
 * Decisions sent as signals: the sender does not wait, so they are tried until the store can be
 * reached.
 */
export const mail = proxyActivities<Pick<PayrunActivities, "verifyDecision">>({
  startToCloseTimeout: "30 seconds",
  retry: { initialInterval: "1s", maximumInterval: "30s" },
});
