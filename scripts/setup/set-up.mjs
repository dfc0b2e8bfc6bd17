import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { cacheFolder } from "./cache-folder.mjs";
import { keepCompiledCode } from "./compile-cache.mjs";
import { ensureNode } from "./node.mjs";
import { EXIT_UNAVAILABLE, SetupError, logToStderr } from "./setup-error.mjs";
import { findTemporalCli } from "./temporal-cli.mjs";
import { hasToken, readEnvFile } from "./trusted-files.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/, "");

/** False in an installed package, which is JavaScript and whose dependencies npm has installed. */
export const IS_CHECKOUT = existsSync(join(ROOT, "package-lock.json"));

/**
 * Sets up what is missing, then returns: Node 24, the packages and, if it is needed, a Temporal
 * CLI, whose path is then in `TEMPORAL_CLI`. If that is impossible, it says what to install and
 * ends the process with code 4. Runs on Node 20 without any package.
 *
 * @param {object} options
 * @param {boolean} options.temporalCli
 */
export async function setUp({ temporalCli }) {
  try {
    await ensureNode({ log: logToStderr });
    if (IS_CHECKOUT) {
      const { ensureDependencies } = await import("./dependencies.mjs");
      await ensureDependencies({ root: ROOT, env: process.env, log: logToStderr });
    }
    keepCompiledCode(IS_CHECKOUT ? join(ROOT, "node_modules", ".cache") : cacheFolder(process.env));
    const env = temporalCli ? withEnvFile(process.env) : undefined;
    if (env) process.env["TEMPORAL_CLI"] = (await findTemporalCli({ env, log: logToStderr })).path;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    for (const line of error.lines) logToStderr(line);
    process.exit(EXIT_UNAVAILABLE);
  }
}

/**
 * Returns the environment with the CLI's path from `.env`, as the program reads it. Set-up only
 * needs that variable.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv | undefined} undefined if the file names a CLI and isn't trusted: the
 *   program then says so
 */
function withEnvFile(env) {
  if (env["TEMPORAL_CLI"] !== undefined || hasToken(env)) return env;
  const file = readEnvFile(resolve(".env"));
  const named = file?.values["TEMPORAL_CLI"];
  if (!file || !named) return env;
  return file.isTrusted ? { ...env, TEMPORAL_CLI: named } : undefined;
}

/** Returns a path inside the checkout. @param {string[]} parts */
export function inCheckout(...parts) {
  return join(ROOT, ...parts);
}
