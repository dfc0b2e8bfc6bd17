import pino from "pino";

type Write = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * Returns a log of JSON lines on standard error that name the part; standard output is for the
 * ready line.
 */
export function createLog(
  part: "gateway" | "worker",
): Readonly<Record<"info" | "warn" | "error", Write>> {
  const logger = pino(
    { base: { part }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
