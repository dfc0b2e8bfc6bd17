import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test, vi } from "vitest";

import type { RunStatus } from "../../src/api/runs.ts";
import { isLong } from "../support/long.ts";
import { machineEnv } from "../support/machine-env.ts";
import { packedInto } from "../support/packed.ts";
import { temporaryFolder } from "./cli.ts";
import { stackSettings, untilNoneIsLeft } from "./stack.ts";

const run = promisify(execFile);

/** Returns the commands that `init` says to type next, without the remarks beside them. */
function commandsIn(said: string): string[] {
  const [, steps = ""] = said.split("What to type next:\n");
  return steps
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/ {2,}/)[0] ?? "");
}

test.runIf(isLong)(
  "in an empty folder with the packed package, the commands that init prints settle bills",
  async () => {
    const folder = temporaryFolder();
    const archive = await packedInto(folder);
    const cwd = join(folder, "empty");
    const home = join(cwd, ".payrun");
    mkdirSync(cwd);
    const env = await stackSettings(home);
    const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
    // If a proxy stands before the registry, npm must trust the certificates of this machine.
    const { NODE_EXTRA_CA_CERTS: trusted = "" } = process.env;
    const registry = trusted === "" ? env : { ...env, NODE_EXTRA_CA_CERTS: trusted };
    await run("npm", [...install, archive], { cwd, env: registry });
    const here = { ...machineEnv(), PAYRUN_HOME: home };
    const typed = (command: string) => run("sh", ["-c", command], { cwd, env: here });

    const { stdout } = await typed("npx payrun init --yes");
    const [up = "", ...commands] = commandsIn(stdout);
    expect(up).toBe("npx payrun up");
    const everything = spawn(up, {
      ...{ cwd, env, shell: true, detached: true },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => end(everything, home));
    let said = "";
    everything.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await vi.waitFor(() => expect(said).toContain("Ctrl-C stops everything"), {
      timeout: 180_000,
      interval: 200,
    });
    // No question can be answered here, so approve gets --yes.
    for (const command of commands) await typed(command.replace(/(payrun approve .*)/, "$1 --yes"));
    const { stdout: status } = await typed("npx payrun status small-bills-next-day --json");
    const { phase, counts } = JSON.parse(status) as RunStatus;
    expect(phase).toMatch(/^completed/);
    expect(counts.settled).toBeGreaterThan(0);
  },
  600_000,
);

/** Interrupts the whole process group, as Ctrl-C at a terminal does. */
async function end({ pid }: ChildProcess, home: string): Promise<void> {
  if (pid !== undefined) process.kill(-pid, "SIGINT");
  await untilNoneIsLeft(home);
}
