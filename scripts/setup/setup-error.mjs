/** Exit code for "what Payrun needs is not there", the same in all of Payrun. */
export const EXIT_UNAVAILABLE = 4;

/** Set-up can't go on; the lines say why and what to install, and nothing else is shown. */
export class SetupError extends Error {
  /** @param {string[]} lines */
  constructor(lines) {
    super(lines.join("\n"));
    this.name = "SetupError";
    this.lines = lines;
  }
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Logs a line on standard error: standard output belongs to the program that is started.
 *
 * @param {string} line
 */
export function logToStderr(line) {
  process.stderr.write(`setup: ${line}\n`);
}
