import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";

import { auditPackages } from "./audit.mjs";
import { runCommand } from "./setup/run-command.mjs";
import { inCheckout } from "./setup/set-up.mjs";
import { tellingDays, testFiles } from "./telling-days.mjs";

/** The checks, each with its tool; the tools are plain JavaScript programs. */
const CHECKS = [
  { name: "types", tool: "typescript/bin/tsc", args: ["--noEmit"] },
  { name: "lint", tool: "oxlint/bin/oxlint", args: [] },
  { name: "format", tool: "oxfmt/bin/oxfmt", args: ["--check"] },
  {
    name: "import directions",
    tool: "dependency-cruiser/bin/dependency-cruiser.mjs",
    args: ["--config", ".dependency-cruiser.mjs", "--output-type", "err-long"],
    folders: ["workflows", "activities", "src", "test", "bench", "bin", "scripts", "docker"],
  },
  { name: "unused code", tool: "knip/bin/knip.js", args: ["--no-progress"] },
];

/**
 * Runs every check, even if one fails. Prints a line with its time for each, and the whole output
 * of each that fails.
 *
 * @param {object} options
 * @param {boolean} options.holesFail a newly published vulnerability fails `npm run check`, but not
 * tests that passed yesterday
 * @param {(text: string) => void} [options.say]
 * @returns {Promise<string[]>} the names of the checks that failed
 */
export async function runChecks({ holesFail, say = write }) {
  /** @type {string[]} */
  const failed = [];
  for (const { name, tool, args, folders = [] } of CHECKS) {
    const startedAt = Date.now();
    const outcome = await runCommand(
      process.execPath,
      [inCheckout("node_modules", tool), ...args, ...folders],
      { cwd: inCheckout() },
    );
    const took = `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
    say(`${outcome.ok ? "✓" : "✗"} ${name} (${took})\n`);
    if (outcome.ok) continue;
    failed.push(name);
    say(`${outcome.stdout}${outcome.stderr}` || `${outcome.why}\n`);
  }
  const { answered, holes } = await auditPackages({ env: process.env, cwd: inCheckout() });
  if (!answered) say("– known vulnerabilities: the registry doesn't say (npm audit)\n");
  else if (holes.length === 0) say("✓ known vulnerabilities\n");
  else say(`✗ known vulnerabilities: ${holes.join(", ")}\n`);
  if (holes.length > 0 && holesFail) failed.push("known vulnerabilities");
  return failed;
}

/** @param {string} text */
function write(text) {
  process.stdout.write(text);
}

/**
 * @param {string[]} failed names of checks
 * @returns {boolean} true if there are none
 */
export function reportFailed(failed) {
  if (failed.length > 0) write(`✗ failed: ${failed.join(", ")}\n`);
  return failed.length === 0;
}

/**
 * Runs the checks beside the tests, which wait more than they compute. On a terminal, where the
 * test runner redraws its last lines, the output of the checks comes last.
 *
 * @param {string[]} flags the test runner's
 * @returns {Promise<boolean>} true if all have passed
 */
export async function runAll(flags) {
  /** @type {string[]} */
  const said = [];
  const say = (/** @type {string} */ text) =>
    process.stdout.isTTY ? void said.push(text) : write(text);
  const checks = runChecks({ holesFail: false, say }).catch((error) => {
    say(`${error}\n`);
    return ["checks"];
  });
  const [passed, failed] = await Promise.all([runTests(flags), checks]);
  write(said.join(""));
  return reportFailed(failed) && passed;
}

const VITEST = inCheckout("node_modules", "vitest", "vitest.mjs");

/** Matches the support files by which a test finds out whether it runs in its long form. */
const LONG = /support\/(?:long|deaths|store-kinds)\.ts/;

/** @returns {string[]} the test files that have a long form, which takes many minutes */
function longTests() {
  return testFiles().filter((file) => LONG.test(readFileSync(inCheckout(file), "utf8")));
}

/**
 * Runs the long form of what `npm test` runs in a short one and, at the same time, the tests that
 * read a date, on telling days: the former mostly wait, the latter compute. With flags, it only
 * runs the long form of the tests that they select, and only today.
 *
 * @param {string[]} flags
 */
export async function runLongTests(flags) {
  const env = { PAYRUN_TEST_LONG: "1" };
  if (flags.length > 0) return runTests(flags, env);
  const longForms = runTests(["--maxWorkers", "4", ...longTests()], env);
  const outcomes = await Promise.all([longForms, runOnTellingDays(longForms)]);
  return outcomes.every((passed) => passed);
}

/** Number of days that run at the same time beside the long forms: more would only slow all down. */
const DAYS_AT_ONCE = 1;
/** Number of additional days once the long forms are over: some compute while others wait. */
const MORE_AFTERWARDS = 3;

/**
 * Begins no day that would end after `TESTS_UNTIL` (in seconds), if there is one: on a slow
 * machine, all days take longer than CI may. The days that were left are named.
 *
 * @param {Promise<unknown>} longForms the long forms beside which they run; more days run at a time
 * once these are over
 * @returns {Promise<boolean>} true if the tests passed on every day that was begun
 */
async function runOnTellingDays(longForms) {
  const days = tellingDays();
  const left = [...days];
  /** @type {string[]} */
  const red = [];
  const untilMs = 1000 * Number(process.env["TESTS_UNTIL"] ?? Infinity);
  /** The longest that a day has taken, of all tests and of those that read a date. */
  const longestMs = { all: 20 * 60_000, dated: 0 };
  const runSome = async () => {
    for (;;) {
      const at = left.findIndex((day) => Date.now() + longestMs[kindOf(day)] < untilMs);
      const [day] = at === -1 ? [] : left.splice(at, 1);
      if (day === undefined) return;
      const startedAt = performance.now();
      if (!(await runOnDay(day))) red.push(day.now);
      const kind = kindOf(day);
      longestMs[kind] = Math.max(longestMs[kind], performance.now() - startedAt);
    }
  };
  const run = (/** @type {number} */ length) => Promise.all(Array.from({ length }, runSome));
  await Promise.all([run(DAYS_AT_ONCE), longForms.then(() => run(MORE_AFTERWARDS))]);
  const outcome = red.length === 0 ? "all green" : `red on ${red.join(", ")}`;
  write(`${days.length - left.length} of ${days.length} telling days: ${outcome}\n`);
  if (left.length > 0) {
    write(`– no time was left for ${left.map(({ now }) => now).join(", ")}\n`);
  }
  return red.length === 0;
}

/** @param {ReturnType<typeof tellingDays>[number]} day */
const kindOf = ({ files }) => (files.length === 0 ? "all" : "dated");

/**
 * Runs the tests on a day. Prints one line about the day, and the test runner's whole output if a
 * test fails.
 *
 * @param {ReturnType<typeof tellingDays>[number]} day
 */
async function runOnDay({ now, what, files }) {
  const startedAt = performance.now();
  // Each process loads everything again, which is not worth it for a few files.
  const workers = files.length === 0 ? "3" : "1";
  const flags = ["--project", "unit", "--reporter", "dot", "--maxWorkers", workers];
  // Beside others, a test may get a small part of a processor, for minutes.
  flags.push("--testTimeout", String(20 * 60_000), ...files);
  const day = await runCommand(process.execPath, [VITEST, "run", ...flags], {
    cwd: inCheckout(),
    env: { ...process.env, TEST_NOW: now },
    timeoutMs: 60 * 60_000,
  });
  const took = `${Math.round((performance.now() - startedAt) / 1000)} s`;
  write(`${day.ok ? "✓" : "✗"} on ${now}, ${what} (${took})\n`);
  if (!day.ok) write(`${day.stdout}${day.stderr}${day.why}\n`);
  return day.ok;
}

/**
 * Runs the tests. The test runner's output goes straight to the user, its summary last.
 *
 * @param {string[]} flags
 * @param {Record<string, string>} [env] what the tests read in addition to this environment
 * @returns {Promise<boolean>} true if all have passed
 */
function runTests(flags, env = {}) {
  const child = spawn(process.execPath, [VITEST, "run", ...flags], {
    cwd: inCheckout(),
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0));
  });
}
