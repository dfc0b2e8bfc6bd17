import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

import { claimHome, type Config } from "../../config.ts";
import { usageError } from "../terminal/cli-error.ts";

/** Writes a file that only its owner may read, completely or not at all. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, path);
}

/** Returns the file's text; undefined if the file doesn't exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the contents of a JSON file that we wrote; undefined if missing or no longer valid. */
export function readJsonIfThere(path: string): unknown {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Makes a home that only its owner can enter, with all that is in it, whichever program wrote it,
 * and that its owner's commands trust where it is. What this process and its children make from now
 * on is its owner's alone as well.
 *
 * @throws {CliError} 2 if it is a copy, or was moved, and isn't trusted yet
 */
export function ownHome({ home, homeProblem }: Pick<Config, "home" | "homeProblem">): void {
  if (homeProblem !== undefined) throw usageError(homeProblem);
  process.umask(0o077);
  mkdirSync(home, { recursive: true });
  claimIfPossible(home);
  closeToOthers(home);
}

/**
 * Has the user's commands trust a home that they have made. Without a place for the user's
 * configuration, as in a container, the environment names the home, and it needs no trust.
 */
export function claimIfPossible(home: string): void {
  try {
    claimHome(home);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}

function closeToOthers(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isSymbolicLink()) return;
  const { mode, uid } = stats;
  // What belongs to somebody else, such as a container's user, is theirs to close.
  if (uid === process.getuid?.() && (mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
  for (const name of stats.isDirectory() ? readdirSync(path) : []) closeToOthers(join(path, name));
}
