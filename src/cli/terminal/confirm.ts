import { usageError } from "./cli-error.ts";
import type { Output } from "./output.ts";

/** True if a person can be asked; programs that want a document can't. */
export function canAsk({ json }: Pick<Output, "json">): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !json;
}

/**
 * Asks before a command acts.
 *
 * @param show prints what to say before the question and returns the question; called only if a
 *   person is asked
 * @returns false if the person said no
 * @throws {CliError} 2 if no person can be asked and --yes is missing
 */
export async function agreed(
  command: string,
  { output, yes }: { readonly output: Output; readonly yes: true | undefined },
  show: () => Promise<string> | string,
): Promise<boolean> {
  requireYes(command, { output, yes });
  return yes === true || asked(await show());
}

/** @throws {CliError} 2 if no person can be asked and --yes is missing */
export function requireYes(
  command: string,
  { output, yes }: { readonly output: Pick<Output, "json">; readonly yes: true | undefined },
): void {
  if (yes === true || canAsk(output)) return;
  throw usageError(
    `“payrun ${command}” asks before it acts, and there is no terminal to ask on: add --yes`,
  );
}

/** Asks on the terminal; enter means no. */
export async function asked(message: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message, initialValue: false });
  return !isCancel(answer) && answer;
}

/** The option of commands that never ask, so that a script may give it to every command. */
export const YES_UNASKED = ["-y, --yes", "accepted and not needed: this never asks"] as const;
