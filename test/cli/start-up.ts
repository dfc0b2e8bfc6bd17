import { type ChildProcess, spawn } from "node:child_process";
import { expect, onTestFinished, vi } from "vitest";
import { MAIN } from "./cli.ts";

interface Up {
  readonly child: ChildProcess;
  /** Returns everything that it has printed so far, in order. */
  readonly said: () => string;
}

/** Starts `payrun up` and waits until it is ready; kills it when the test ends. */
export async function startUp(
  cwd: string,
  env: Record<string, string>,
  ...flags: string[]
): Promise<Up> {
  const child = spawn(process.execPath, [MAIN, "up", ...flags], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  }
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`up ended: ${said}`);
      expect(said).toMatch(/Ctrl-C stops everything|"ready": ?true/);
    },
    { timeout: 240_000, interval: 100 },
  );
  return { child, said: () => said };
}
