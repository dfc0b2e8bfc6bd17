/** What a command line can't be read as; its message says what to write instead. */
export class UsageError extends Error {}

/** @throws {UsageError} */
export function wholeNumber(option: string, text: string, least: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (number >= least) return number;
  throw new UsageError(`--${option} must be a whole number of at least ${least}, not “${text}”`);
}

/** What is wrong with the command line; undefined where something else failed. */
export function usageFault(error: unknown): string | undefined {
  if (error instanceof UsageError) return error.message;
  const isOfParser =
    error instanceof TypeError &&
    "code" in error &&
    String(error.code).startsWith("ERR_PARSE_ARGS_");
  // What follows the first sentence is about options that begin otherwise.
  return isOfParser ? error.message.split(/\. |\n/)[0] : undefined;
}
