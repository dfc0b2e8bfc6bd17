import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, onTestFinished, test, vi } from "vitest";

import type { CliError } from "../../../src/cli/terminal/cli-error.ts";
import { type PartPlan, Processes } from "../../../src/cli/parts/processes.ts";
import { temporaryFolder } from "../cli.ts";

const WITH_PARENT = fileURLToPath(
  new URL("../../../src/cli/parts/with-parent.ts", import.meta.url),
);

const READY = `process.stdout.write(JSON.stringify({ ready: true, token: "secret", pid: process.pid }) + "\\n");`;
const LIVE = "setInterval(() => {}, 1000);";

function processesIn(folder: string): Processes {
  const processes = new Processes(folder);
  onTestFinished(() => processes.stopAll());
  return processes;
}

function part(name: string, script: string, more: Partial<PartPlan> = {}): PartPlan {
  return {
    name,
    command: process.execPath,
    args: ["-e", script],
    env: { PATH: process.env["PATH"] ?? "" },
    layer: 1,
    ready: "line",
    ...more,
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid)).toBe(false);
}

describe("processes", () => {
  test("a part has started once it reports that it is ready; its greeting stays out of its log", async () => {
    const folder = temporaryFolder();
    const processes = processesIn(folder);
    const started = await processes.start(
      part("worker", `process.stderr.write("a remark\\n"); ${READY} ${LIVE}`),
    );
    expect(started.greeting).toMatchObject({ token: "secret" });
    const log = () => readFileSync(join(folder, "worker.log"), "utf8");
    await expect.poll(log).toContain("a remark");
    await expect.poll(log).toContain("ready");
    expect(log()).not.toContain("secret");
  });

  test("a part that ends before it is ready fails with its last output and log, without a stack", async () => {
    const processes = processesIn(temporaryFolder());
    const script = `process.stderr.write("the port is taken\\n    at somewhere (file.ts:1:1)\\n"); process.exit(4);`;
    const error: CliError = await processes.start(part("gateway", script)).then(
      () => expect.fail("it started"),
      (thrown: CliError) => thrown,
    );
    expect(error.exitCode).toBe(4);
    expect(error.message).toContain("gateway ended before it was ready (exit code 4)");
    expect(error.message).toContain("the port is taken");
    expect(error.message).not.toContain("file.ts");
    expect(error.hint).toContain("gateway.log");
  });

  test("a part that doesn't become ready in time is ended", async () => {
    const processes = processesIn(temporaryFolder());
    const plan = part("sandbox", `process.stderr.write(process.pid + "\\n"); ${LIVE}`);
    const error = await processes.start({ ...plan, readyTimeoutMs: 5_000 }).then(
      () => expect.fail("it started"),
      (thrown: Error) => thrown,
    );
    expect(error.message).toContain("not ready");
    const pid = Number(/\n\s*(\d+)/.exec(error.message)?.[1]);
    await untilGone(pid);
  });

  test("a missing program is an error, not a crash", async () => {
    const processes = processesIn(temporaryFolder());
    const plan = { ...part("temporal", ""), command: "/nowhere/temporal", args: [] };
    await expect(processes.start(plan)).rejects.toThrow(/temporal ended before it was ready/);
  });

  test("a crash also ends the part's child processes, and isn't reported as unexpected", async () => {
    const processes = processesIn(temporaryFolder());
    const surprised = vi.fn<() => void>();
    processes.onUnexpectedExit(surprised);
    const script = `
      const child = require("node:child_process").spawn(process.execPath, ["-e", "${LIVE}"]);
      process.stdout.write(JSON.stringify({ ready: true, child: child.pid }) + "\\n"); ${LIVE}`;
    const started = await processes.start(part("sandbox", script));
    await processes.crash(started);
    await untilGone(started.pid);
    await untilGone(Number(started.greeting["child"]));
    expect(surprised).not.toHaveBeenCalled();
  });

  test("a part that dies by itself is reported", async () => {
    const processes = processesIn(temporaryFolder());
    const died = new Promise<string>((resolve) => {
      processes.onUnexpectedExit(({ name }) => resolve(name));
    });
    await processes.start(part("gateway", `${READY} setTimeout(() => process.exit(1), 100);`));
    expect(await died).toBe("gateway");
  });

  test("parts are stopped from the highest layer down, by force if they ignore the signal", async () => {
    const folder = temporaryFolder();
    const processes = processesIn(folder);
    const orderly = `process.on("SIGTERM", () => { process.stderr.write("ended " + Date.now() + "\\n"); process.exit(0); });`;
    const deaf = `process.on("SIGTERM", () => {});`;
    const low = await processes.start(part("temporal", `${orderly} ${READY} ${LIVE}`));
    const high = await processes.start(
      part("worker", `${deaf} ${READY} ${LIVE}`, { layer: 3, stopTimeoutMs: 500 }),
    );
    let highEndedFirst = false;
    void high.exited.then(() => {
      highEndedFirst = isAlive(low.pid);
    });
    await processes.stopAll();
    expect(highEndedFirst).toBe(true);
    await untilGone(low.pid);
    await expect(processes.start(part("late", READY))).rejects.toThrow("stopping");
  });

  test("with-parent ends a program when its parent process is gone", async () => {
    const processes = processesIn(temporaryFolder());
    const inner = `process.stdout.write(JSON.stringify({ ready: true, inner: process.pid }) + "\\n"); ${LIVE}`;
    // The process in the middle owns the pipe, as the CLI would, and is killed without warning.
    const middle = `
      const child = require("node:child_process").spawn(process.execPath,
        [${JSON.stringify(WITH_PARENT)}, process.execPath, "-e", ${JSON.stringify(inner)}],
        { stdio: ["pipe", "inherit", "inherit"], detached: true });
      ${LIVE}`;
    const started = await processes.start(part("middle", middle));
    await processes.crash(started);
    await untilGone(Number(started.greeting["inner"]));
  });
});
