/** A mistake in a command line; its message says what to write instead. */
export class UsageError extends Error {}

/** @throws {UsageError} */
export function wholeNumber(option: string, text: string, least: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (number >= least) return number;
  throw new UsageError(`--${option} must be a whole number of at least ${least}, not “${text}”`);
}

/** Returns what is wrong with the command line; undefined if something else failed. */
export function usageFault(error: unknown): string | undefined {
  if (error instanceof UsageError) return error.message;
  const isOfParser =
    error instanceof TypeError &&
    "code" in error &&
    String(error.code).startsWith("ERR_PARSE_ARGS_");
  // The rest after the first sentence is about arguments that begin with a dash.
  return isOfParser ? error.message.split(/\. |\n/)[0] : undefined;
}
