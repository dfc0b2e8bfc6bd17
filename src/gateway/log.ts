import pino from "pino";
import type { Log } from "../actions/context.ts";

/** Lines of JSON on standard error; standard output belongs to the ready line. */
export function createLog(level = "info"): Log {
  const logger = pino(
    { level, base: { part: "gateway" }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
