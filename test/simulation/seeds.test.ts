import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isLong } from "../support/long.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Seconds of seeds for each `npm test`, and for `npm run test:long`. */
const SECONDS = isLong ? 60 : 20;

function simulated(...args: readonly string[]): Promise<string> {
  const command = ["--disable-warning=ExperimentalWarning", main, ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { maxBuffer: 64 * 1024 * 1024 }, (_, stdout) =>
      resolve(stdout.trim()),
    );
  });
}

test("no seed breaks a rule, with any troubles", async () => {
  // A short run has the same seeds on any machine; the long test runs as many as it can.
  const seeds = isLong ? [] : ["--seeds", "1..12"];
  const said = await simulated(...seeds, "--seconds", String(SECONDS));
  expect(said).toMatch(/^\d+ seeds, 0 violations$/);
});

test("a planted bug is caught, and reported with its seed", async () => {
  const said = await simulated("--plant", "random-key", "--seeds", "1..3");
  // Which of the rules about keys is broken first depends on which process dies when.
  expect(said).toMatch(
    /^seed 1: (?:key-from-facts|written-before-sent): .*\n1 seeds, 1 violations$/,
  );
});
