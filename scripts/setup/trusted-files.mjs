import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { parseEnv } from "node:util";

import { userFolder } from "./user-folder.mjs";

/** Settings that may hold a token; only the source of a token decides where it is sent. */
const TOKENS = ["PAYRUN_TOKEN", "PAYMENTS_API_TOKEN", "TEMPORAL_API_KEY"];

/**
 * True if a token comes from the environment: then a folder's files determine neither where it goes,
 * nor what runs, nor who decides.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function hasToken(env) {
  return TOKENS.some((name) => (env[name] ?? "").trim() !== "");
}

/**
 * Reads a folder's `.env`.
 *
 * @param {string} path
 * @returns {{ text: string, values: NodeJS.Dict<string>, isTrusted: boolean } | undefined} undefined
 *   if there is none
 */
export function readEnvFile(path) {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  return { text, values: parseEnv(text), isTrusted: isTrusted(path, text) };
}

/**
 * Returns the folder, in the user's configuration, with an entry for each file that the user has
 * trusted: its name is made of the file's real path and of its content.
 */
export function trustFolder() {
  return join(userFolder("XDG_CONFIG_HOME", ".config"), "trusted");
}

/**
 * True if the user has trusted the file at this path with exactly this content.
 *
 * @param {string} path
 * @param {string} text
 */
export function isTrusted(path, text) {
  return readIfThere(entryOf(path, text)) !== undefined;
}

/**
 * True if the user has trusted the file with any content.
 *
 * @param {string} path
 */
export function wasTrusted(path) {
  const begin = `${hashOf(realPath(path))}.`;
  return entries().some((name) => name.startsWith(begin));
}

/**
 * Trusts the file at this path with this content, for this user.
 *
 * @param {string} path
 * @param {string} text
 */
export function trust(path, text) {
  mkdirSync(trustFolder(), { recursive: true, mode: 0o700 });
  writeFileSync(entryOf(path, text), `${realPath(path)}\n`, { mode: 0o600 });
}

/**
 * Takes back the trust in a file, or in all files of a folder, with any content.
 *
 * @param {string} path
 */
export function distrust(path) {
  const real = realPath(path);
  for (const name of entries()) {
    const entry = join(trustFolder(), name);
    const trusted = readIfThere(entry)?.trimEnd() ?? "";
    if (trusted === real || trusted.startsWith(`${real}${sep}`)) rmSync(entry, { force: true });
  }
}

function entries() {
  try {
    return readdirSync(trustFolder());
  } catch {
    return [];
  }
}

/** @param {string} path @param {string} text */
function entryOf(path, text) {
  return join(trustFolder(), `${hashOf(realPath(path))}.${hashOf(text)}`);
}

/**
 * Returns the path with its folder's links resolved, but not the file's own: a link in another
 * folder to a trusted file is another file, because what the file says is relative to its folder.
 *
 * @param {string} path
 */
function realPath(path) {
  const whole = resolve(path);
  try {
    return join(realpathSync(dirname(whole)), basename(whole));
  } catch {
    return whole;
  }
}

/** @param {string} text */
function hashOf(text) {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Reads a file; undefined if there is none.
 *
 * @param {string} path
 * @returns {string | undefined}
 */
export function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
