import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

import { cacheFolder, shortPath } from "./cache-folder.mjs";
import { runCommand, seconds } from "./run-command.mjs";
import { messageOf } from "./setup-error.mjs";
import { withLock } from "./with-lock.mjs";

const VERSION = "4.32.5";
const INSTALL_TIMEOUT_MS = 5 * 60_000;
const isWindows = process.platform === "win32";

/** @typedef {import("./cache-folder.mjs").Env} Env */

/**
 * Returns the program that fuzzes the sandbox by its OpenAPI document, if set-up has put it into
 * the user's cache folder.
 *
 * @param {Env} env
 * @returns {string | undefined} its path
 */
export function findSchemathesis(env) {
  const path = programIn(venvIn(cacheFolder(env)));
  return existsSync(path) ? path : undefined;
}

/**
 * Installs Schemathesis into a virtual environment in the user's cache folder, if there is a Python
 * and pip can reach an index. Never fails: if it can't be installed, one line says why.
 *
 * @param {object} options
 * @param {Env} options.env
 * @param {(line: string) => void} options.log
 * @param {string} [options.python] the interpreter with which to create the environment
 * @returns {Promise<string | undefined>} its path
 */
export async function ensureSchemathesis({ env, log, python = isWindows ? "python" : "python3" }) {
  try {
    const cache = cacheFolder(env);
    const onWait = (/** @type {string} */ holder) => {
      log(`waiting for ${holder}, which sets up Schemathesis`);
    };
    const lock = join(cache, "locks", "schemathesis.lock");
    return await withLock(lock, { onWait }, async () => {
      const venv = venvIn(cache);
      if (!(await works(venv, env))) await install(venv, { env, log, python });
      return programIn(venv);
    });
  } catch (error) {
    log(`the API's document is not fuzzed: Schemathesis is missing (${messageOf(error)})`);
    return undefined;
  }
}

/** @param {string} cache */
function venvIn(cache) {
  return join(cache, `schemathesis-${VERSION}`);
}

/** @param {string} venv */
function programIn(venv) {
  return isWindows ? join(venv, "Scripts", "schemathesis.exe") : join(venv, "bin", "schemathesis");
}

/** @param {string} venv @param {Env} env */
async function works(venv, env) {
  if (!existsSync(programIn(venv))) return false;
  const said = await runCommand(programIn(venv), ["--version"], { env, timeoutMs: 60_000 });
  return said.ok && said.stdout.includes(VERSION);
}

/**
 * Installs it in its final place from the start, because a virtual environment can't be moved.
 * Removes the remains of a broken one first.
 *
 * @param {string} venv
 * @param {{ env: Env, log: (line: string) => void, python: string }} options
 */
async function install(venv, { env, log, python }) {
  await rm(venv, { recursive: true, force: true });
  const startedAt = Date.now();
  const made = await runCommand(python, ["-m", "venv", venv], { env, timeoutMs: 120_000 });
  if (made.ok) {
    log(`installing Schemathesis ${VERSION} with pip into ${shortPath(venv)}, once`);
    const pip = isWindows ? join(venv, "Scripts", "pip.exe") : join(venv, "bin", "pip");
    const options = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"];
    const installed = await runCommand(pip, ["install", ...options, `schemathesis==${VERSION}`], {
      env,
      timeoutMs: INSTALL_TIMEOUT_MS,
    });
    if (installed.ok && (await works(venv, env))) {
      log(`Schemathesis ${VERSION} is there (${seconds(Date.now() - startedAt)})`);
      return;
    }
    await rm(venv, { recursive: true, force: true });
    throw new Error(`pip can't install it: ${installed.why || "it does not run"}`);
  }
  await rm(venv, { recursive: true, force: true });
  throw new Error(`${python} can't make a virtual environment: ${made.why}`);
}
