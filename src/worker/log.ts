import { DefaultLogger, type Logger } from "@temporalio/worker";
import pino from "pino";
import type { ActivityLog } from "../../activities/shared/context.ts";

/** Lines of JSON on standard error; standard output belongs to the ready line. */
export function createLog(): ActivityLog {
  const logger = pino(
    { base: { part: "worker" }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
  };
}

/** What of the SDK's log fields is kept: an allow-list, since failures can carry anything. */
const KEPT = ["workflowId", "runId", "activityType", "attempt", "sdkComponent", "taskQueue"];

/** The SDK's own log through ours: warnings and errors only. */
export function runtimeLogger(log: ActivityLog): Logger {
  return new DefaultLogger("WARN", ({ message, meta }) => {
    const kept = Object.entries(meta ?? {}).filter(([key]) => KEPT.includes(key));
    log.warn(message, Object.fromEntries(kept));
  });
}
