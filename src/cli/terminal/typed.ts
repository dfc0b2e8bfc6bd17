import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { z } from "zod";

import { programFolders } from "../../config.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { ownFile } from "./own-files.ts";

/** Folders that npm adds to the PATH of what it runs; the reader's PATH doesn't have them. */
const NPMS_OWN = /[/\\](node_modules[/\\]\.bin|node-gyp-bin)$/;

/**
 * Matches a Payrun command in a text, with or without a color before it, that npx doesn't already
 * precede (a text may be broken into lines in between) and that isn't a path or the end of another
 * word. What Payrun itself has done, such as “since payrun said: …” and “payrun has asked …”, is
 * not a command.
 */
const OURS = new RegExp(
  `(?<=${String.fromCodePoint(27)}\\[[\\d;]*m|^|[^\\w/.@-])(?<!npx (?:--prefix (?:"[^"]*"|\\S+) )?)payrun (?!said: |has )(?=[a-z])`,
  "g",
);

/**
 * Returns what a reader in that folder types to run Payrun: `payrun` if a shell finds it, `npx
 * payrun` if npx does, the name given to npx if npx fetched Payrun by that name, and otherwise npx
 * with the folder of this program.
 */
function programName(folder: string): string {
  if (isOnPath()) return "payrun";
  if (npxFindsUs(folder)) return "npx payrun";
  const program = programFolder();
  const given = givenToNpx(program);
  return given === undefined ? `npx --prefix ${shellWord(program)} payrun` : `npx ${given}`;
}

/** The note that npx keeps beside a package that it has fetched: how the package was named. */
const Fetched = z.object({ _npx: z.object({ packages: z.tuple([z.string()]) }) });

/**
 * Returns the name, with its version if given, by which npx has fetched the program in that folder.
 * An archive isn't named: npx would ask and reinstall it each time, beneath the running program.
 */
export function givenToNpx(program: string): string | undefined {
  try {
    const noted = readFileSync(join(program, "../../package.json"), "utf8");
    const [name] = Fetched.parse(JSON.parse(noted))._npx.packages;
    return /^payrun(@[\w.+-]+)?$/.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/**
 * True if npx finds Payrun: npx runs what is installed in the folder or above it, and the package
 * that contains the folder.
 */
function npxFindsUs(folder: string): boolean {
  const above = [folder];
  for (let at = folder; dirname(at) !== at; at = dirname(at)) above.push(dirname(at));
  if (above.some((at) => existsSync(join(at, "node_modules/.bin/payrun")))) return true;
  const own = above.find((at) => existsSync(join(at, "package.json")));
  return own !== undefined && own === programFolder();
}

/** Compiled files are one folder deeper than those of a checkout. */
function programFolder(): string {
  const inCheckout = ownFile("bin/payrun.mjs");
  return dirname(dirname(existsSync(inCheckout) ? inCheckout : ownFile("../bin/payrun.mjs")));
}

function isOnPath(): boolean {
  const endings = process.platform === "win32" ? [".cmd", ".exe"] : [""];
  return programFolders()
    .filter((folder) => !NPMS_OWN.test(folder))
    .some((folder) => endings.some((ending) => canRun(join(folder, `payrun${ending}`))));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces every Payrun command in a text by what a reader can type in that folder, whatever the
 * text's origin.
 */
export function typeable(text: string, folder: string = process.cwd()): string {
  return text.replace(OURS, () => `${programName(folder)} `);
}
