import { tmpdir } from "node:os";
import { runCli } from "../../../src/cli/program.ts";
import type { CommandLine } from "../cli.ts";

/** What the command has written so far. */
let written: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };

for (const name of ["stdout", "stderr"] as const) {
  process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    written[name].push(Buffer.from(chunk as string));
    const done = rest.find((each) => typeof each === "function") as (() => void) | undefined;
    if (done !== undefined) process.nextTick(done);
    return true;
  };
}

/**
 * Runs command lines one after another, each as if in its own process: in its folder, with only its
 * environment. Loading the program takes a second, which is spent only once.
 */
async function run({ args, cwd, env }: CommandLine): Promise<void> {
  written = { stdout: [], stderr: [] };
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const code = await runCli(args);
  // The test removes its folder when it ends.
  process.chdir(tmpdir());
  const [stdout, stderr] = [written.stdout, written.stderr].map((all) =>
    Buffer.concat(all).toString(),
  );
  process.send?.({ code, stdout, stderr });
}

process.on("message", (asked) => void run(asked as CommandLine));
process.on("disconnect", () => process.exit());
