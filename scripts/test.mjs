import process from "node:process";

import { ensureSchemathesis } from "./setup/schemathesis.mjs";
import { logToStderr } from "./setup/setup-error.mjs";
import { setUp } from "./setup/set-up.mjs";

const flags = process.argv.slice(2);
const checksOnly = flags.includes("--checks-only");
const isLong = flags[0] === "--long";

await setUp({ temporalCli: !checksOnly });
if (!checksOnly) await ensureSchemathesis({ env: process.env, log: logToStderr });

const { runAll, runChecks, runLongTests, reportFailed } = await import("./checks.mjs");
const passed = await (checksOnly
  ? runChecks({ holesFail: true }).then(reportFailed)
  : isLong
    ? runLongTests(flags.slice(1))
    : runAll(flags));
process.exitCode = passed ? 0 : 1;
