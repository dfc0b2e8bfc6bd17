import { definedOnly } from "../../contracts/defined-only.ts";
import { waits } from "../../domain/counted.ts";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { formatProblems, type Problem } from "../../playbooks/problem.ts";
import { loadPlaybookFile } from "../../playbooks/load.ts";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { ownFile } from "../terminal/own-files.ts";
import { type GatewayClient, ofBusiness } from "../client/gateway-client.ts";
import { type AppliedPlaybook, AppliedPlaybookBody, PlaybookListBody } from "../../api/schemas.ts";

export interface ReadPlaybook {
  readonly name: string;
  /** The business that the file names; undefined for the only one. */
  readonly business?: string | undefined;
  readonly text: string;
}

/**
 * Playbooks that others name are stored first: a pay-run names its rules for failures, and so on.
 */
const NAMED_FIRST = ["retry-failed", "pay-run"];

/**
 * Returns the file that a path means. `playbooks/NAME.yaml`, as the docs write it, is the example
 * that comes with Payrun if the folder has no such file.
 */
export function playbookFile(path: string): string {
  const example = /^(?:\.\/)?(playbooks\/[\w-]+\.yaml)$/.exec(path)?.[1];
  if (example === undefined || existsSync(path)) return path;
  const own = ownFile(example);
  return existsSync(own) ? own : path;
}

/**
 * Runs a request for a playbook by name. If no playbook of that name is known, the refusal points
 * to the example that comes with Payrun.
 *
 * @param command the command that takes the example's path
 */
export async function orExample<Answer>(
  nameOrFile: string,
  command: string,
  asked: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await asked();
  } catch (error) {
    const path = `playbooks/${nameOrFile}.yaml`;
    const isUnknown = error instanceof CliError && error.code === "not_found";
    if (!isUnknown || isFile(nameOrFile) || !existsSync(playbookFile(path))) throw error;
    const { exitCode, message, code, details } = error;
    const hint = `${path} is the one that comes with Payrun: “payrun ${command} ${path}”.`;
    throw new CliError(exitCode, message, { code, details, hint });
  }
}

/** @throws {CliError} 2 with every mistake in the file */
export async function readPlaybook(file: string): Promise<ReadPlaybook> {
  const [only] = await readPlaybooks([file]);
  if (only === undefined) throw new Error(`${file} was neither read nor refused`);
  return only;
}

/**
 * Reads playbooks and returns them in an order in which they can be stored.
 *
 * @throws {CliError} 2 with every mistake in all of the files, or if two have the same name
 */
export async function readPlaybooks(files: readonly string[]): Promise<ReadPlaybook[]> {
  const all = await Promise.all(
    files.map(async (path) => {
      const file = playbookFile(path);
      return { file, loaded: await loadPlaybookFile(file) };
    }),
  );
  const problems = all.flatMap(({ loaded }) => (loaded.ok ? [] : loaded.problems));
  if (problems.length > 0) throw invalidPlaybook(problems);
  const read = all.flatMap(({ file, loaded }) =>
    loaded.ok ? [{ file, text: loaded.text, playbook: loaded.playbook }] : [],
  );
  for (const { file, playbook } of read) {
    const { name, business } = playbook;
    const other = read.find(
      (each) =>
        each.file !== file && each.playbook.name === name && each.playbook.business === business,
    );
    if (other === undefined) continue;
    throw usageError(
      `${file} and ${other.file} are both named “${playbook.name}”: one would replace the other`,
      "A playbook's name is its file's: rename one, or leave it out.",
    );
  }
  const rank = (kind: string): number => [...NAMED_FIRST, kind].indexOf(kind);
  return read
    .toSorted((one, other) => rank(one.playbook.kind) - rank(other.playbook.kind))
    .map(({ text, playbook: { name, business } }) => ({
      name,
      text,
      ...definedOnly({ business: business ?? undefined }),
    }));
}

/**
 * Returns the playbook files that the paths mean; a folder means all of its playbooks. A playbook's
 * tests, `NAME.test.yaml` beside it, are not playbooks; nor are the profiles and the compose file
 * that `payrun init` writes beside its playbook.
 *
 * @throws {CliError} 2 for a folder without any
 */
export async function playbookFiles(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const entries = await readdir(path).catch(() => null);
    if (entries === null) {
      files.push(playbookFile(path));
      continue;
    }
    const inFolder = entries
      .filter((entry) => /\.ya?ml$/.test(entry) && !isTests(entry))
      .toSorted()
      .map((entry) => join(path, entry));
    const neighbours = await Promise.all(inFolder.map((file) => isNeighbour(file)));
    const playbooks = inFolder.filter((_, index) => neighbours[index] !== true);
    if (playbooks.length === 0)
      throw usageError(`${path} has no playbooks: no file in it ends in .yaml and has a kind`);
    files.push(...playbooks);
  }
  const all = new Set(files);
  const hasPlaybook = (file: string): boolean => all.has(file.replace(/\.test(\.ya?ml)$/, "$1"));
  return [...all].filter((file) => !isTests(file) || !hasPlaybook(file));
}

/** True for profiles and compose files, whose first keys show that they are not playbooks. */
async function isNeighbour(file: string): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /^(businesses|services)\s*:/m.test(text) && !/^kind\s*:/m.test(text);
}

function isTests(file: string): boolean {
  return /\.test\.ya?ml$/.test(file);
}

function invalidPlaybook(problems: readonly Problem[]): CliError {
  return new CliError(EXIT.usage, `the playbook is not valid\n${formatProblems(problems)}`, {
    code: "invalid_playbook",
    details: problems,
  });
}

/** Stores a playbook as the revision in force; the same text keeps its revision. */
export function sendPlaybook(
  gateway: GatewayClient,
  playbook: ReadPlaybook,
): Promise<AppliedPlaybook> {
  return gateway.post("/v1/playbooks", AppliedPlaybookBody, playbook);
}

/**
 * Returns a playbook from a name, or from a file, which is applied first.
 *
 * @param said receives a line about a revision that was made
 */
export async function playbookNamed(
  gateway: GatewayClient,
  nameOrFile: string,
  said: (line: string) => void,
): Promise<{ readonly playbook: string; readonly business?: string }> {
  if (!isFile(nameOrFile)) return { playbook: nameOrFile };
  const read = await readPlaybook(nameOrFile);
  const applied = await sendPlaybook(gateway, read).catch(async (error: unknown) => {
    throw await asApplying(gateway, read, error);
  });
  if (applied.changed && applied.proposal === undefined)
    said(`applied ${applied.name}, revision ${applied.revision}`);
  if (applied.proposal !== undefined) throw waitsForSecond([applied]);
  return { playbook: applied.name, business: applied.business };
}

/** A principal who may launch but not apply may still launch the stored playbook of that name. */
async function asApplying(
  gateway: GatewayClient,
  { name, business }: ReadPlaybook,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof CliError) || error.code !== "forbidden") return error;
  const { exitCode, code, details, message } = error;
  // The list only adds a hint: if it can't be read, the refusal is reported without one.
  const applied = await gateway
    .get(ofBusiness("/v1/playbooks", business), PlaybookListBody)
    .catch(() => ({ items: [] }));
  const isApplied = applied.items.some((each) => each.name === name);
  const why = `a file is applied before it is launched, and only an administrator may apply it. ${message}`;
  return new CliError(exitCode, why, {
    code,
    details,
    ...(isApplied ? { hint: `“payrun launch ${shellWord(name)}” launches what is applied.` } : {}),
  });
}

/** Returns the error for proposals that wait for a second person (exit 3). */
export function waitsForSecond(proposed: readonly AppliedPlaybook[]): CliError {
  const names = proposed.map(({ name }) => name);
  return new CliError(
    EXIT.waiting,
    `${names.join(", ")} ${waits(names.length)} for a second person to confirm`,
    {
      code: "proposed",
      details: proposed,
      hint: names.map((name) => `payrun playbook confirm ${name}`).join("; "),
    },
  );
}

/** Returns what to plan: a stored playbook by its name, or a file with its unstored text. */
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
