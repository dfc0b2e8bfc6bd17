import process from "node:process";

import { ensureSchemathesis } from "./setup/schemathesis.mjs";
import { logToStderr } from "./setup/setup-error.mjs";
import { setUp } from "./setup/set-up.mjs";

const flags = process.argv.slice(2);
const checksOnly = flags.includes("--checks-only");
const isLong = flags[0] === "--long";

await setUp({ temporalCli: !checksOnly });
if (!checksOnly) await ensureSchemathesis({ env: process.env, log: logToStderr });

const { runChecks, runLongTests, runTests } = await import("./checks.mjs");
const failed = isLong ? [] : await runChecks({ holesFail: checksOnly });
const testsPassed =
  checksOnly || (isLong ? await runLongTests(flags.slice(1)) : await runTests(flags));
process.exitCode = failed.length === 0 && testsPassed ? 0 : 1;
