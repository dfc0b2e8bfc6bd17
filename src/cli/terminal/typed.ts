import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { z } from "zod";

import { programFolders } from "../../config.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { ownFile } from "./own-files.ts";

/** Folders that npm puts on the PATH of what it runs: whoever reads us has them on none. */
const NPMS_OWN = /[/\\](node_modules[/\\]\.bin|node-gyp-bin)$/;

/**
 * A command of ours in a text, with or without a colour before it, not yet spoken to npx (a text
 * may be broken into lines in between), and not a path or a word that ends so. What Payrun itself
 * has done, such as “since payrun said: …” and “payrun has asked …”, is no command.
 */
const OURS = new RegExp(
  `(?<=${String.fromCodePoint(27)}\\[[\\d;]*m|^|[^\\w/.@-])(?<!npx (?:--prefix (?:"[^"]*"|\\S+) )?)payrun (?!said: |has )(?=[a-z])`,
  "g",
);

/**
 * What a reader in that folder types to run us: `payrun` where a shell finds that, `npx payrun`
 * where npx does, the name that they gave npx where that has fetched us by it, and elsewhere npx
 * with the folder of this very program.
 */
function programName(folder: string): string {
  if (isOnPath()) return "payrun";
  if (npxFindsUs(folder)) return "npx payrun";
  const program = programFolder();
  const given = givenToNpx(program);
  return given === undefined ? `npx --prefix ${shellWord(program)} payrun` : `npx ${given}`;
}

/** What npx notes beside a package that it has fetched to run it: how the package was named. */
const Fetched = z.object({ _npx: z.object({ packages: z.tuple([z.string()]) }) });

/**
 * The name, with its version if it had one, by which npx has fetched the program in that folder.
 * An archive isn't named: npx would ask and install it anew each time, under what runs already.
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

/** npx runs what is installed in the folder or above it, and the package that the folder is in. */
function npxFindsUs(folder: string): boolean {
  const above = [folder];
  for (let at = folder; dirname(at) !== at; at = dirname(at)) above.push(dirname(at));
  if (above.some((at) => existsSync(join(at, "node_modules/.bin/payrun")))) return true;
  const own = above.find((at) => existsSync(join(at, "package.json")));
  return own !== undefined && own === programFolder();
}

/** Compiled files lie one folder deeper than those of a checkout. */
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

/** A text with every command of ours in it as a reader can type it there, whoever wrote the text. */
export function typeable(text: string, folder: string = process.cwd()): string {
  return text.replace(OURS, () => `${programName(folder)} `);
}
