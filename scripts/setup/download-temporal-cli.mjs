import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

import { fetchOut } from "./proxy.mjs";
import { runCommand } from "./run-command.mjs";
import { messageOf } from "./setup-error.mjs";
import { verified } from "./verified-file.mjs";

/**
 * The newest version that `go install` accepts: later ones replace modules in their go.mod. The
 * hashes of archives and wheels are of this version.
 */
export const CLI_VERSION = "1.5.1";

/** A closed network either refuses at once or swallows the request, and then there is the wheel. */
const FIRST_BYTE_TIMEOUT_MS = 5_000;
const WHOLE_TIMEOUT_MS = 10 * 60_000;

/**
 * SHA-256 of this release's archives, by platform as in `linux-x64`, from its list of checksums.
 */
export const RELEASE = {
  version: CLI_VERSION,
  from: `https://github.com/temporalio/cli/releases/download/v${CLI_VERSION}`,
  /** @type {Readonly<Record<string, { archive: string, sha256: string }>>} */
  archives: {
    "linux-x64": {
      archive: `temporal_cli_${CLI_VERSION}_linux_amd64.tar.gz`,
      sha256: "ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d",
    },
    "linux-arm64": {
      archive: `temporal_cli_${CLI_VERSION}_linux_arm64.tar.gz`,
      sha256: "bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5",
    },
    "darwin-x64": {
      archive: `temporal_cli_${CLI_VERSION}_darwin_amd64.tar.gz`,
      sha256: "bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9",
    },
    "darwin-arm64": {
      archive: `temporal_cli_${CLI_VERSION}_darwin_arm64.tar.gz`,
      sha256: "cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415",
    },
  },
};

/**
 * Downloads the Temporal CLI into a folder to which only the user may write, and unpacks it once
 * its bytes match the hash that is pinned here.
 *
 * @param {string} folder
 * @param {import("./cache-folder.mjs").Env} env
 * @param {(line: string) => void} log
 * @param {typeof RELEASE} [release]
 * @param {string} [platform]
 * @returns {Promise<string>} path of the executable
 * @throws {Error} with the reason why there is none
 */
export async function downloadTemporalCli(
  folder,
  env,
  log,
  release = RELEASE,
  platform = `${process.platform}-${process.arch}`,
) {
  const pinned = release.archives[platform];
  if (pinned === undefined) {
    throw new Error(`no hash of a Temporal CLI for ${platform} is pinned: none is downloaded`);
  }
  const { archive, sha256 } = pinned;
  log(`downloading the Temporal CLI ${release.version} from ${release.from}`);
  const bytes = verified(await bytesOf(`${release.from}/${archive}`, env), sha256, archive);
  const path = join(folder, archive);
  await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
  const options = { env, cwd: folder, timeoutMs: 60_000 };
  const unpacked = await runCommand("tar", ["-xzf", path, "-C", folder, "temporal"], options);
  if (!unpacked.ok) throw new Error(`${archive} can't be unpacked: ${unpacked.why}`);
  return join(folder, "temporal");
}

/** @param {string} url @param {import("./cache-folder.mjs").Env} env */
async function bytesOf(url, env) {
  const stop = new AbortController();
  const slow = setTimeout(() => {
    stop.abort(new Error(`nothing arrived for ${FIRST_BYTE_TIMEOUT_MS / 1000} s`));
  }, FIRST_BYTE_TIMEOUT_MS);
  try {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(WHOLE_TIMEOUT_MS)]);
    const answer = await fetchOut(url, { signal }, env);
    clearTimeout(slow);
    if (!answer.ok) throw new Error(`the answer is ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  } catch (error) {
    throw new Error(`the Temporal CLI can't be downloaded: ${innermost(error)}`, { cause: error });
  } finally {
    clearTimeout(slow);
  }
}

/** @param {unknown} error */
function innermost(error) {
  const cause = error instanceof Error ? error.cause : undefined;
  return messageOf(cause ?? error);
}
