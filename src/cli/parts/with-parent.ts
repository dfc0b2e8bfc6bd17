import { spawn } from "node:child_process";

// Runs a program that doesn't follow its parent, and ends it when our standard input closes, which
// happens however the parent ends, including by SIGKILL.

const KILL_AFTER_MS = 8_000;

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  process.stderr.write("with-parent: expected a program and its arguments\n");
  process.exit(2);
}

const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });

function end(signal: NodeJS.Signals): void {
  child.kill(signal);
  setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref();
}

process.stdin.on("end", () => end("SIGTERM"));
process.stdin.on("error", () => end("SIGTERM"));
process.stdin.resume();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => end("SIGTERM"));
}

child.on("error", (error) => {
  process.stderr.write(`${command} can't be started: ${error.message}\n`);
  process.exit(127);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 143)));
