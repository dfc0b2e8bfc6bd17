import { randomUUID } from "node:crypto";
import {
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";

import { distrust, isTrusted, trust, wasTrusted } from "../../scripts/setup/trusted-files.mjs";

/**
 * Returns why the content of a file that a folder's `.env` names, or of the `.env` itself, isn't
 * used; undefined if the user has trusted it.
 */
export function untrusted(path: string, text: string): string | undefined {
  if (isTrusted(path, text)) return undefined;
  const why = wasTrusted(path) ? "has changed since you trusted it" : "isn't trusted yet";
  return `${path} ${why}: nothing was sent or started. ${REMEDY}`;
}

const REMEDY = "“payrun trust” shows it and trusts it.";

/** Trusts a file with this content, and with no other. */
export function trustFile(path: string, text: string): void {
  distrust(path);
  trust(path, text);
}

/** The home if no setting names one, in the current folder. */
export const DEFAULT_HOME = ".payrun";

/** The profiles file that `up` makes in its home for the sandbox beside it. */
export const SANDBOX_PROFILES = "sandbox-profiles.yaml";

/** The file that says where a home was made, and which one it is. */
const MARK = "home.id";

/**
 * Returns the path of the file that stands for the whole home when it is trusted: its content is
 * this home's alone.
 */
export const homeMark = (home: string) => join(home, MARK);

/**
 * Returns why what a home keeps isn't used; undefined if it may be: there is nothing in it, the
 * user's own commands made it there, or the user has trusted it there.
 *
 * @param isExported true if the environment names the home: then it needs trust only if it says
 *   itself that it was made elsewhere
 */
export function homeProblem(home: string, isExported: boolean): string | undefined {
  if (isEmptyHome(home)) return undefined;
  const mark = readMark(home);
  if (mark !== undefined && isTrusted(homeMark(home), mark)) return undefined;
  if (isExported && (mark === undefined || isMadeHere(home, mark))) return undefined;
  return `the home ${home} was not made there by you, or it is a copy: nothing was sent or started. ${REMEDY}`;
}

/** True if nothing is kept in a home. */
export function isEmptyHome(home: string): boolean {
  try {
    return readdirSync(home).length === 0;
  } catch {
    return true;
  }
}

/** Makes a home the user's own, where it is. A home that was made there keeps its id. */
export function claimHome(home: string): void {
  const old = readMark(home);
  const isOwn = old !== undefined && isMadeHere(home, old);
  const mark = isOwn ? old : `${realpathSync(home)}\n${randomUUID()}\n`;
  // If two processes make a home at once, the marks of both are trusted, and one of them stays.
  trust(homeMark(home), mark);
  if (isOwn) return;
  // A link of that name is replaced, not followed.
  const unfinished = `${homeMark(home)}.${process.pid}`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, mark, { mode: 0o600, flag: "wx" });
  renameSync(unfinished, homeMark(home));
}

function isMadeHere(home: string, mark: string): boolean {
  return mark.split("\n")[0] === realpathSync(home);
}

function readMark(home: string): string | undefined {
  try {
    return readFileSync(homeMark(home), "utf8");
  } catch {
    return undefined;
  }
}
