import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Everything that workflow code may import, and the files that pin the SDK that bundles it. */
const SOURCES = ["workflows", "src/contracts", "src/domain", "src/temporal"];
const PINS = ["package.json", "package-lock.json"].filter((file) => existsSync(join(ROOT, file)));

/**
 * Bundles the workflow code once for each state of its sources: a worker that gets the bundle
 * starts seconds sooner.
 *
 * @param folder the folder in which bundles are kept
 * @param encrypts true if histories are encrypted, including failures
 * @returns the bundle's path
 */
export async function workflowBundle(
  folder: string,
  { encrypts }: { readonly encrypts: boolean },
): Promise<string> {
  const kind = encrypts ? "encrypted-" : "";
  const path = join(folder, `workflows-${kind}${await hashOfSources()}.js`);
  if (existsSync(path)) return path;
  const { failureConverterOf } = await import("../../temporal/codec.ts");
  const { bundleWorkflowCode, DefaultLogger } = await import("@temporalio/worker");
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, "workflows", "index.ts"),
    logger: new DefaultLogger("ERROR"),
    ...failureConverterOf({ encryptsHistories: () => encrypts }),
  });
  await mkdir(folder, { recursive: true });
  await forgetOthers(folder);
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, code);
  await rename(unfinished, path);
  return path;
}

async function hashOfSources(): Promise<string> {
  const hash = createHash("sha256");
  const listed = await Promise.all(SOURCES.map((folder) => filesUnder(folder)));
  for (const path of [...listed.flat(), ...PINS].sort()) {
    hash.update(`${path}\n`).update(await readFile(join(ROOT, path)));
  }
  return hash.digest("hex").slice(0, 16);
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath.slice(ROOT.length), entry.name));
}

async function forgetOthers(folder: string): Promise<void> {
  const names = await readdir(folder);
  const old = names.filter((name) => /^workflows-(encrypted-)?[0-9a-f]{16}\.js$/.test(name));
  await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
}
