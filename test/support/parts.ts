import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const START_TIMEOUT_MS = 60_000;

/** Starts a part of Payrun as a process of its own, and waits until it is ready. */
export async function startPart({
  program,
  args,
  env,
  log,
}: {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  /** A file that takes the part's standard error. */
  readonly log: string;
}): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stderr.pipe(createWriteStream(log, { flags: "a" }));
  await ready(child, program);
  return child;
}

async function ready(child: ChildProcess, part: string): Promise<void> {
  if (child.stdout === null) throw new Error(`the ${part} has no standard output`);
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill("SIGKILL"), START_TIMEOUT_MS);
  try {
    await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(([code]) => {
        throw new Error(`the ${part} exited with ${code} before it was ready`);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a part that may already have ended. */
export async function endPart(
  child: ChildProcess | undefined,
  signal: NodeJS.Signals,
): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}
