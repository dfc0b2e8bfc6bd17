import { definedOnly } from "../../contracts/defined-only.ts";
/** The exit codes of the process; scripts rely on them. */
export const EXIT = {
  done: 0,
  /** Failed, or a run ended with exceptions under `--wait`. */
  failed: 1,
  /** Wrong usage, wrong settings or an invalid playbook. */
  usage: 2,
  /** Waits for a person. */
  waiting: 3,
  /** Temporal, the gateway, the API or the store can't be reached. */
  unavailable: 4,
  /** Ended by Ctrl-C before the work was done; the code that shells use. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that a user can do something about: one clear line, and what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** Lower snake case, for `--json`. */
  readonly code: string;
  /** What to do about it. */
  readonly hint: string | undefined;
  readonly details: unknown;

  constructor(
    exitCode: ExitCode,
    message: string,
    options: { readonly code?: string; readonly hint?: string; readonly details?: unknown } = {},
  ) {
    super(message);
    this.exitCode = exitCode;
    this.code = options.code ?? "failed";
    this.hint = options.hint;
    this.details = options.details;
  }
}

/** @param hint what to write instead */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, {
    code: "usage",
    ...definedOnly({ hint }),
  });
}

/** @param hint how to start what can't be reached */
export function unavailable(code: string, message: string, hint?: string): CliError {
  return new CliError(EXIT.unavailable, message, {
    code,
    ...definedOnly({ hint }),
  });
}

/** Returns what went wrong, in the error's own words. */
export function errorReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(errorReason).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}
