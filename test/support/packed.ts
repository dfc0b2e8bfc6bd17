import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cacheFolder } from "../../scripts/setup/cache-folder.mjs";
import { withLock } from "../../scripts/setup/with-lock.mjs";

const run = promisify(execFile);
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Packs the package as publishing would. The compiled output is in the checkout meanwhile, so a
 * lock prevents two packs at once.
 *
 * @returns path of the archive in the folder
 */
export async function packedInto(folder: string): Promise<string> {
  const name = createHash("sha256").update(CHECKOUT).digest("hex").slice(0, 16);
  const lock = join(cacheFolder(process.env), "locks", `pack-${name}.lock`);
  await withLock(lock, { onWait: () => undefined }, () =>
    run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: CHECKOUT }),
  );
  const archive = (await readdir(folder)).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new Error("npm pack has made no archive");
  return join(folder, archive);
}
