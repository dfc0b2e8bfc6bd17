import { rm } from "node:fs/promises";
import process from "node:process";

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
if (!outcome.ok) {
  process.stderr.write(`${outcome.stdout}${outcome.stderr}` || `${outcome.why}\n`);
  process.exitCode = 1;
}
