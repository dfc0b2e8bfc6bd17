import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

import { cacheFolder } from "./cache-folder.mjs";
import { npmCommand } from "./npm.mjs";
import { runCommand, seconds } from "./run-command.mjs";
import { SetupError } from "./setup-error.mjs";
import { withLock } from "./with-lock.mjs";

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 */

/**
 * Installs the packages of the lockfile, if it has changed since the last time. Costs one hash if
 * nothing has changed.
 *
 * @param {object} options
 * @param {string} options.root the checkout
 * @param {import("./cache-folder.mjs").Env} options.env
 * @param {(line: string) => void} options.log
 * @throws {SetupError} if npm could not install
 */
export async function ensureDependencies({ root, env, log }) {
  const wanted = await stampOf(root);
  if ((await installedStamp(root)) === wanted) return;
  const onWait = (/** @type {string} */ holder) => {
    log(`waiting for ${holder}, which installs the packages`);
  };
  const lock = join(cacheFolder(env), "locks", `packages-${hash(root).slice(0, 16)}.lock`);
  await withLock(lock, { onWait }, async () => {
    if ((await installedStamp(root)) === wanted) return;
    if (!(await isInstalled(root))) await install(root, env, log);
    await writeFile(join(root, "node_modules", ".payrun-lock"), wanted);
  });
}

/** @param {string} root */
async function stampOf(root) {
  const lockfile = await readFile(join(root, "package-lock.json"), "utf8");
  return `${hash(lockfile)} ${process.platform}-${process.arch}`;
}

/** @param {string} root @returns {Promise<string | undefined>} */
async function installedStamp(root) {
  try {
    return await readFile(join(root, "node_modules", ".payrun-lock"), "utf8");
  } catch {
    return undefined;
  }
}

/**
 * True if exactly these packages are already installed, by a person's `npm install`. npm writes
 * what it has installed next to it, as its last step.
 *
 * @param {string} root
 */
async function isInstalled(root) {
  try {
    const wanted = await packagesOf(join(root, "package-lock.json"));
    const found = await packagesOf(join(root, "node_modules", ".package-lock.json"));
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === "" || !isForThisMachine(entry)) return true;
      return found[path]?.version === entry.version;
    });
  } catch {
    return false;
  }
}

/** @param {string} path @returns {Promise<Record<string, LockedPackage>>} */
async function packagesOf(path) {
  /** @type {{ packages: Record<string, LockedPackage> }} */
  const lockfile = JSON.parse(await readFile(path, "utf8"));
  return lockfile.packages;
}

/** @param {LockedPackage} entry */
function isForThisMachine(entry) {
  if (!entry.optional && !entry.devOptional) return true;
  // A package that is only needed by another machine's package names no platform itself.
  if (!entry.os && !entry.cpu) return !entry.optional;
  return (
    matches(entry.os, process.platform) &&
    matches(entry.cpu, process.arch) &&
    matches(entry.libc, libcOfThisMachine())
  );
}

/** @param {string[] | undefined} accepted @param {string | undefined} actual */
function matches(accepted, actual) {
  if (accepted === undefined) return true;
  return actual !== undefined && accepted.includes(actual);
}

/** @returns {string | undefined} */
function libcOfThisMachine() {
  if (process.platform !== "linux") return undefined;
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (
    process.report.getReport()
  );
  return report.header?.glibcVersionRuntime ? "glibc" : "musl";
}

/**
 * @param {string} root
 * @param {import("./cache-folder.mjs").Env} env
 * @param {(line: string) => void} log
 */
async function install(root, env, log) {
  log("installing the packages (npm ci)");
  const startedAt = Date.now();
  const npm = npmCommand(env);
  // The checks need the development packages, whatever NODE_ENV says.
  const whole = ["--ignore-scripts", "--include=dev", "--include=optional"];
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
  const args = [...npm.args, "ci", ...whole, ...quiet];
  const outcome = await runCommand(npm.command, args, { env, cwd: root, timeoutMs: 20 * 60_000 });
  if (!outcome.ok) {
    throw new SetupError([
      `the packages can't be installed: npm ci: ${outcome.why}`,
      ...linesOf(outcome.stderr),
      "Is the npm registry reachable? To see more: npm ci --ignore-scripts",
    ]);
  }
  log(`packages installed (${seconds(Date.now() - startedAt)})`);
}

/** @param {string} text */
function linesOf(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-20)
    .map((line) => `  ${line}`);
}

/** @param {string} text */
function hash(text) {
  return createHash("sha256").update(text).digest("hex");
}
