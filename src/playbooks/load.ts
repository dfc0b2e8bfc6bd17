import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { Playbook } from "../contracts/playbook.ts";
import { explainIssues } from "./explain.ts";
import { kindWritten, PLAYBOOK_KINDS } from "./kinds/index.ts";
import { type Fault, MISTAKES_MOST, type Problem } from "./problem.ts";
import { type Issue, readSource, type Source } from "./source.ts";
import { suggest } from "../domain/suggest.ts";
import { readWord } from "./texts.ts";

/**
 * A playbook ready to run, with the text it came from and what in it is probably not meant, or what
 * is wrong with it.
 */
export type LoadResult =
  | {
      readonly ok: true;
      readonly playbook: Playbook;
      readonly text: string;
      readonly warnings: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

interface LoadOptions {
  /** The file name that precedes every mistake. */
  readonly file: string;
  /** The playbook's name; if absent, the file's name without its extension. */
  readonly name?: string;
}

const MAX_CHARACTERS = 64_000;

/**
 * Reads a playbook. Never throws: mistakes are returned as problems, up to a hundred of one text at
 * once, in the order of the text, and at least one if the result is not `ok`.
 */
export function loadPlaybook(text: string, options: LoadOptions): LoadResult {
  const { file } = options;
  const name = options.name ?? basename(file).replace(/\.ya?ml$/, "");
  const unfit = unfitText(text);
  if (unfit !== null) return failed([aboutFile(file, unfit)]);
  const nameProblems = checkName(file, name);
  const source = readSource(text, file);
  if (source.problems.length === 0 && source.value === null) {
    return failed([...nameProblems, aboutFile(file, EMPTY)]);
  }
  const kindName = kindWritten(source.value);
  const kind = PLAYBOOK_KINDS[kindName];
  const { playbook, issues, warnings } = kind.read(name, source.value);
  const found = [...explainIssues(issues, source, kindName), ...kind.checkTogether(source.value)];
  const problems = [...nameProblems, ...source.problems, ...locateReliable(found, source)];
  if (problems.length > 0 || playbook === null) return failed(problems);
  return { ok: true, playbook, text, warnings: warnings.map((issue) => source.locate(issue)) };
}

/** Reads a playbook's file, which must be a UTF-8 text named `<name>.yaml` or `<name>.yml`. */
export async function loadPlaybookFile(path: string): Promise<LoadResult> {
  const read = await readText(path);
  return typeof read === "string"
    ? loadPlaybook(read, { file: path })
    : failed([aboutFile(path, read)]);
}

const EMPTY: Fault = {
  message: "the playbook is empty",
  expected: "at least `kind: pay-run` and a `select`, such as `select: { due: within 7 days }`",
};

const NOT_TEXT: Fault = { message: "this is not a text file", expected: "YAML, saved as UTF-8" };
const TOO_LARGE: Fault = {
  message: "this is too large for a playbook",
  expected: `at most ${MAX_CHARACTERS / 1000} kB`,
};

function unfitText(text: string): Fault | null {
  if (text.length > MAX_CHARACTERS) return TOO_LARGE;
  return /[^\P{Cc}\t\n\v\f\r\u0085]|\ufffd/u.test(text) ? NOT_TEXT : null;
}

function checkName(file: string, name: string): Problem[] {
  const reading = readWord(name, "a playbook's name", "weekly-vendors");
  if (reading.ok) return [];
  return [aboutFile(file, { ...reading.fault, message: `\`${name}\` can't name a playbook` })];
}

// A syntax mistake makes the text after it meaningless; complaints about that would only confuse.
function locateReliable(issues: readonly Issue[], source: Source): Problem[] {
  return issues
    .filter(
      (issue) =>
        source.reliableUntil === Number.POSITIVE_INFINITY ||
        (source.has(issue.path) && source.offsetOf(issue.path) < source.reliableUntil),
    )
    .slice(0, MISTAKES_MOST)
    .map((issue) => source.locate(issue));
}

function failed(problems: readonly Problem[]): LoadResult {
  const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
  return { ok: false, problems: sorted.slice(0, MISTAKES_MOST) };
}

function aboutFile(file: string, fault: Fault): Problem {
  return { file, line: 1, column: 1, ...fault, sourceLine: "" };
}

async function readText(path: string): Promise<string | Fault> {
  const extension = extname(path);
  if (extension !== ".yaml" && extension !== ".yml" && (await isFile(path))) {
    return {
      message: "a playbook's file name ends in .yaml",
      expected: "the name of the playbook and .yaml",
    };
  }
  try {
    const found = await stat(path);
    if (found.isDirectory())
      return { message: "this is a directory", expected: "a playbook's file" };
    if (!found.isFile()) return { message: "this is not a file", expected: "a playbook's file" };
    if (found.size > MAX_CHARACTERS * 4) return TOO_LARGE;
    const bytes = await readFile(path);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    return cannotRead(path, error);
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

async function cannotRead(path: string, error: unknown): Promise<Fault> {
  if (error instanceof TypeError) return NOT_TEXT;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ENOENT" && code !== "ENOTDIR") {
    return { message: `this can't be read (${String(code)})`, expected: "a file you may read" };
  }
  const folder = dirname(path);
  const neighbours = await readdir(folder).catch(() => []);
  const playbooks = neighbours.filter((entry) => /\.ya?ml$/.test(entry));
  const guess = suggest(basename(path), playbooks) ?? suggest(`${basename(path)}.yaml`, playbooks);
  return {
    message: "there is no such playbook",
    expected: "the path of a playbook's file",
    ...(guess === undefined ? {} : { didYouMean: join(folder, guess) }),
  };
}
