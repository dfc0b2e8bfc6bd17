import process from "node:process";

import { setUp } from "./setup/set-up.mjs";

const flags = process.argv.slice(2);
const checksOnly = flags.includes("--checks-only");

await setUp({ temporalCli: !checksOnly });

const { runChecks, runTests } = await import("./checks.mjs");
const failed = await runChecks();
const testsPassed = checksOnly || (await runTests(flags));
process.exitCode = failed.length === 0 && testsPassed ? 0 : 1;
