import { existsSync } from "node:fs";

import { formatProblems, type Problem } from "../playbooks/problem.ts";
import { loadPlaybookFile } from "../playbooks/load.ts";
import { CliError, EXIT } from "./cli-error.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { type AppliedPlaybook, appliedPlaybook } from "./gateway-shapes.ts";

export interface ReadPlaybook {
  readonly name: string;
  readonly text: string;
}

/** @throws {CliError} 2 with every mistake in the file */
export async function readPlaybook(file: string): Promise<ReadPlaybook> {
  const loaded = await loadPlaybookFile(file);
  if (loaded.ok) return { name: loaded.playbook.name, text: loaded.text };
  throw invalidPlaybook(loaded.problems);
}

function invalidPlaybook(problems: readonly Problem[]): CliError {
  return new CliError(EXIT.usage, `the playbook is not valid\n${formatProblems(problems)}`, {
    code: "invalid_playbook",
    details: problems,
  });
}

/** Stores a playbook as the revision in force; the same text keeps its revision. */
export function applyPlaybook(
  gateway: GatewayClient,
  { name, text }: ReadPlaybook,
): Promise<AppliedPlaybook> {
  return gateway.post("/v1/playbooks", appliedPlaybook, { name, text });
}

/**
 * A playbook's name from a name, or from a file, which is applied first.
 *
 * @param said hears of a revision that was made
 */
export async function playbookNamed(
  gateway: GatewayClient,
  nameOrFile: string,
  said: (line: string) => void,
): Promise<string> {
  if (!isFile(nameOrFile)) return nameOrFile;
  const applied = await applyPlaybook(gateway, await readPlaybook(nameOrFile));
  if (applied.changed) said(`applied ${applied.name}, revision ${applied.revision}`);
  return applied.name;
}

/** What to plan: a stored playbook by its name, or a file with its text, which stays unstored. */
export async function playbookToPlan(
  nameOrFile: string,
): Promise<{ readonly playbook: string; readonly text?: string }> {
  if (!isFile(nameOrFile)) return { playbook: nameOrFile };
  const { name, text } = await readPlaybook(nameOrFile);
  return { playbook: name, text };
}

function isFile(nameOrFile: string): boolean {
  return /\.ya?ml$/.test(nameOrFile) || /[/\\]/.test(nameOrFile) || existsSync(nameOrFile);
}
