import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

import { npmCommand } from "./setup/npm.mjs";
import { runCommand } from "./setup/run-command.mjs";
import { inCheckout, setUp } from "./setup/set-up.mjs";

// Node strips no types under node_modules, so an installed package has to be JavaScript. `dist` has
// the layout of the checkout, so that each file finds the others at the same relative paths.
const DIST = inCheckout("dist");

/** The files, besides code, that programs read at run time. */
const READ = ["src", "playbooks", "docker", "docker-compose.yml"];

await setUp({ temporalCli: false });
// Otherwise the output of a deleted source file would be packed.
await rm(DIST, { recursive: true, force: true });
if ((await compile("tsconfig.build.json")) && (await compile("tsconfig.types.json"))) {
  await nameCompiled(DIST);
  for (const path of READ) {
    const options = {
      recursive: true,
      filter: (/** @type {string} */ from) => !from.endsWith(".ts"),
    };
    await cp(inCheckout(path), join(DIST, path), options);
  }
  await writeOwnPackage();
  await writeBillOfMaterials();
}

/** @param {string} project @returns {Promise<boolean>} */
async function compile(project) {
  const tsc = inCheckout("node_modules", "typescript", "bin", "tsc");
  const outcome = await runCommand(process.execPath, [tsc, "-p", project], { cwd: inCheckout() });
  if (!outcome.ok) fail(outcome);
  return outcome.ok;
}

/**
 * Renames files to their compiled names in string literals, which name files to be started or read.
 * The compiler has already renamed what is imported. The set-up's files, which programs share, are
 * beside `dist`: one folder further up.
 *
 * @param {string} folder
 */
async function nameCompiled(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile() && each.name.endsWith(".js"))) {
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path, "utf8");
    const named = text
      .replaceAll(/"([\w./-]*)\.ts"/g, '"$1.js"')
      .replaceAll(/"((?:\.\.\/)+scripts\/setup\/)/g, '"../$1');
    if (named !== text) await writeFile(path, named);
  }
}

/**
 * Writes what the compiled programs read about themselves: their version, and that they are
 * modules.
 */
async function writeOwnPackage() {
  const { name, version, type } = JSON.parse(await readFile(inCheckout("package.json"), "utf8"));
  await writeFile(
    join(DIST, "package.json"),
    `${JSON.stringify({ name, version, type }, null, 2)}\n`,
  );
}

/**
 * Writes the bill of materials, which lists what is in the package: CycloneDX, without a network.
 * npm would also leave out what is needed for development, so it lists those packages too, and
 * marks them.
 */
async function writeBillOfMaterials() {
  const npm = npmCommand(process.env);
  const args = [...npm.args, "sbom", "--sbom-format=cyclonedx"];
  const made = await runCommand(npm.command, args, { cwd: inCheckout() });
  if (made.ok) await writeFile(join(DIST, "sbom.cdx.json"), made.stdout);
  else fail(made);
}

/** @param {import("./setup/run-command.mjs").Outcome} outcome */
function fail({ stdout, stderr, why }) {
  process.stderr.write(`${stdout}${stderr}` || `${why}\n`);
  process.exitCode = 1;
}
