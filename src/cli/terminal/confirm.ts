import { usageError } from "./cli-error.ts";
import type { Output } from "./output.ts";

/** True if somebody can be asked: programs that want a document can't. */
export function isSomebodyThere({ json }: Pick<Output, "json">): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && !json;
}

/**
 * For commands that ask before they act.
 *
 * @param show what to say before the question, and the question; only called if somebody is asked
 * @returns false if they said no
 * @throws {CliError} 2 if nobody can be asked and nobody said --yes
 */
export async function agreed(
  command: string,
  { output, yes }: { readonly output: Output; readonly yes: true | undefined },
  show: () => Promise<string> | string,
): Promise<boolean> {
  requireYes(command, { output, yes });
  return yes === true || asked(await show());
}

/** @throws {CliError} 2 if nobody can be asked and nobody said --yes */
export function requireYes(
  command: string,
  { output, yes }: { readonly output: Pick<Output, "json">; readonly yes: true | undefined },
): void {
  if (yes === true || isSomebodyThere(output)) return;
  throw usageError(
    `“payrun ${command}” asks before it acts, and nobody can be asked here: add --yes`,
  );
}

/** Asks on the terminal; no is what enter means. */
export async function asked(message: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message, initialValue: false });
  return !isCancel(answer) && answer;
}

/** The option of commands that never ask, so that a script may give it to every command. */
export const YES_UNASKED = ["-y, --yes", "accepted and not needed: this never asks"] as const;
