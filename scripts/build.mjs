import { rm, writeFile } from "node:fs/promises";
import process from "node:process";

import { npmCommand } from "./setup/npm.mjs";
import { runCommand } from "./setup/run-command.mjs";
import { inCheckout, setUp } from "./setup/set-up.mjs";

// Node strips no types under node_modules, so what others install has to be JavaScript.
await setUp({ temporalCli: false });
// What is left of a file that is gone would be packed.
await rm(inCheckout("dist"), { recursive: true, force: true });
const outcome = await runCommand(
  process.execPath,
  [inCheckout("node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.build.json"],
  { cwd: inCheckout() },
);
if (!outcome.ok) fail(outcome);
else await writeBillOfMaterials();

/**
 * What is in the package, for whoever has to know: CycloneDX, without a network. npm would leave out
 * what development needs as well, so it names that too, and marks it.
 */
async function writeBillOfMaterials() {
  const npm = npmCommand(process.env);
  const args = [...npm.args, "sbom", "--sbom-format=cyclonedx"];
  const made = await runCommand(npm.command, args, { cwd: inCheckout() });
  if (made.ok) await writeFile(inCheckout("dist", "sbom.cdx.json"), made.stdout);
  else fail(made);
}

/** @param {import("./setup/run-command.mjs").Outcome} outcome */
function fail({ stdout, stderr, why }) {
  process.stderr.write(`${stdout}${stderr}` || `${why}\n`);
  process.exitCode = 1;
}
