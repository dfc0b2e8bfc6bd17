import { DefaultLogger, type Logger, Runtime, type RuntimeOptions } from "@temporalio/worker";
import type { ActivityLog } from "../../activities/shared/context.ts";
import { ConfigError } from "../config/config-error.ts";
import { reasonOf } from "../process/repeat.ts";

/** The SDK's log fields that are kept: an allow-list, since fields can carry anything. */
const KEPT = ["workflowId", "activityType", "attempt", "sdkComponent", "taskQueue"];

/**
 * Sets up how Temporal's SDK logs and counts in this process.
 *
 * @param metricsAddress where Prometheus reads the SDK's own metrics; undefined for nowhere
 * @throws ConfigError if something listens at that address already
 */
export function installRuntime(log: ActivityLog, metricsAddress: string | undefined): Runtime {
  const logger = runtimeLogger(log);
  const telemetryOptions = metricsAddress === undefined ? {} : metricsAt(metricsAddress);
  try {
    return Runtime.install({ logger, shutdownSignals: [], telemetryOptions });
  } catch (error) {
    if (metricsAddress === undefined) throw error;
    const why = `PAYRUN_WORKER_METRICS: ${metricsAddress} can't be listened on: ${reasonOf(error)}`;
    throw new ConfigError([why]);
  }
}

/**
 * Returns metrics under the names that Temporal's alerts and dashboards use, with Prometheus'
 * suffixes.
 */
function metricsAt(bindAddress: string): NonNullable<RuntimeOptions["telemetryOptions"]> {
  const names = { countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true };
  return { metrics: { prometheus: { bindAddress, ...names } } };
}

/**
 * Returns what counts the decisions that this worker judges. The gateways count theirs under the
 * same name, so that their sum is all of them.
 */
export function decisionCounter({ metricMeter }: Runtime): (outcome: string) => void {
  // With the suffix of counters: payrun_decisions_total.
  const counter = metricMeter.createCounter(
    "payrun_decisions",
    undefined,
    "Approvals and rejections sent straight to Temporal, by outcome",
  );
  return (outcome) => counter.add(1, { outcome });
}

/** Logged at each start for queues that have activities only: nothing is wrong with them. */
const AS_MEANT = "No workflows registered, not polling for workflow tasks";

/** Passes the SDK's own log through ours: warnings and errors only, with the error's message. */
export function runtimeLogger(log: ActivityLog): Logger {
  return new DefaultLogger("WARN", ({ message, meta }) => {
    if (message === AS_MEANT) return;
    const { error, ...fields } = meta ?? {};
    const kept = Object.entries(fields).filter(([key]) => KEPT.includes(key));
    log.warn(message, {
      ...Object.fromEntries(kept),
      ...(error === undefined ? {} : { reason: reasonOf(error) }),
    });
  });
}
