import { mkdirSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { SetupError, messageOf } from "./setup-error.mjs";
import { userFolder } from "./user-folder.mjs";

/** @typedef {Readonly<Record<string, string | undefined>>} Env */

/**
 * Returns the folder outside every checkout in which set-up keeps what it has downloaded or built:
 * `$XDG_CACHE_HOME/payrun`, otherwise `~/.cache/payrun`. Creates it if it doesn't exist.
 *
 * @param {Env} env
 * @returns {string}
 */
export function cacheFolder(env) {
  const folder = userFolder("XDG_CACHE_HOME", ".cache", env);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new SetupError([
      `the cache folder ${folder} can't be made: ${messageOf(error)}`,
      "Set XDG_CACHE_HOME to a folder that can be written to.",
    ]);
  }
  return folder;
}

/**
 * Creates a new folder in the cache, on the same file system as the destination of what is renamed
 * out of it. Removes the folders that killed set-ups have left, so the caller must hold the lock of
 * what it makes.
 *
 * @param {string} cache
 * @param {string} prefix
 */
export async function temporaryFolder(cache, prefix) {
  const left = (await readdir(cache)).filter((name) => name.startsWith(prefix));
  for (const name of left) await rm(join(cache, name), { recursive: true, force: true });
  return mkdtemp(join(cache, prefix));
}

/** Shortens a path for people to read. @param {string} path */
export function shortPath(path) {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
