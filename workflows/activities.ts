import { proxyActivities } from "@temporalio/workflow";
import type { PayrunActivities } from "../src/contracts/activities.ts";
import { MASS_QUEUE } from "../src/contracts/names.ts";

/** They beat only where they take long: a worker that died or froze in one is noticed all the same. */
const SHORT = {
  startToCloseTimeout: "2 minutes",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "500ms", maximumInterval: "30s" },
} as const;

/** A worker that died or froze in one is noticed within seconds by its missing heartbeat. */
const LONG = {
  startToCloseTimeout: "30 minutes",
  heartbeatTimeout: "8 seconds",
  retry: { initialInterval: "500ms", maximumInterval: "30s" },
} as const;

/** Short steps on the store and reads of the service: tried again until they succeed. */
export const steps =
  proxyActivities<
    Pick<
      PayrunActivities,
      | "openRun"
      | "reviewRun"
      | "reserveMoney"
      | "endUnplannedRun"
      | "reviewIncident"
      | "reviewCancellation"
      | "countUnreadDecisions"
      | "notifyOperators"
    >
  >(SHORT);

/** The same for failed payments: thousands may bounce on one day. */
export const retries = proxyActivities<Pick<PayrunActivities, "reviewFailedPayment">>({
  ...SHORT,
  taskQueue: MASS_QUEUE.retries,
});

/** Steps that read many pages; they heartbeat, so that a dead worker is noticed. */
export const reads = proxyActivities<Pick<PayrunActivities, "planRun" | "planDry">>({
  taskQueue: MASS_QUEUE.reading,
  startToCloseTimeout: "30 minutes",
  heartbeatTimeout: "30 seconds",
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/** Reads page by page that a run waits for: a worker that died in one is noticed within seconds. */
export const pages = proxyActivities<Pick<PayrunActivities, "followPayments">>({
  taskQueue: MASS_QUEUE.reading,
  startToCloseTimeout: "30 minutes",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/** Cancels, and what they read before and after: people wait for them, and the next cut-off comes. */
export const cancels =
  proxyActivities<Pick<PayrunActivities, "choosePayments" | "cancelPayments" | "followRefunds">>(
    LONG,
  );

/** Payments that are made again. */
export const money = proxyActivities<Pick<PayrunActivities, "payAgain">>({
  ...LONG,
  taskQueue: MASS_QUEUE.retries,
});

/**
 * Payments and deposits that others go on beside: after some tries a failure is told, and its
 * workflow looks where it stands before it begins anew.
 */
export const lanes = proxyActivities<Pick<PayrunActivities, "payBills" | "makeDeposits">>({
  ...LONG,
  taskQueue: MASS_QUEUE.money,
  retry: { ...LONG.retry, maximumAttempts: 8 },
});

/** Launches: tried again until the store and Temporal take them. */
export const launches = proxyActivities<Pick<PayrunActivities, "launchRun">>({
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1s", maximumInterval: "1 minute" },
});

/** Steps of an onboarding: they read and write at the service, and heartbeat meanwhile. */
export const onboarding = proxyActivities<
  Pick<PayrunActivities, "reviewOnboarding" | "sendOnboardingStep">
>({
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "8 seconds",
  retry: { initialInterval: "500ms", maximumInterval: "30s" },
});

/** Answers to people who wait for them: tried for a short time only. */
export const answers = proxyActivities<Pick<PayrunActivities, "verifyDecision">>({
  startToCloseTimeout: "30 seconds",
  retry: { maximumAttempts: 3 },
});

/** The same where nobody waits: what was signalled is judged once the store can be reached again. */
export const mail = proxyActivities<Pick<PayrunActivities, "verifyDecision">>({
  startToCloseTimeout: "30 seconds",
  retry: { initialInterval: "1s", maximumInterval: "30s" },
});
