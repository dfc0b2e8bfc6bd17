import { isLong } from "../support/long.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

import { describe, expect, onTestFinished, test, vi } from "vitest";

import type { RunStatus } from "../../src/api/runs.ts";
import { MAIN, payrun, temporaryFolder } from "./cli.ts";
import { processesOf, stackSettings, untilNoneIsLeft } from "./stack.ts";

async function up(cwd: string, env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, "up", "--json"], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`up ended: ${stderr}`);
      expect(JSON.parse(stdout)).toMatchObject({ ready: true });
    },
    { timeout: 120_000, interval: 100 },
  );
  return child;
}

describe("up", () => {
  test("starts everything, commands in another terminal find it, Ctrl-C leaves nothing behind", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const env = await stackSettings(home);
    const child = await up(cwd, env);
    expect(statSync(join(home, "admin.token")).mode & 0o777).toBe(0o600);
    const elsewhere = { cwd, env: { PAYRUN_HOME: home } };
    const launched = await payrun(["status", "--json"], elsewhere);
    expect(launched.json()).toEqual({ items: [] });
    const again = await payrun(["up"], elsewhere);
    expect(again.code).toBe(4);
    expect(again.stderr).toContain("already");

    const made = await payrun(["token", "create", "olga", "--role", "owner", "--json"], elsewhere);
    const { token } = made.json<{ token: string }>();
    const playbook = join(import.meta.dirname, "../../playbooks/weekly-vendors.yaml");
    const run = (await payrun(["launch", playbook, "--json"], elsewhere)).json<RunStatus>();
    const approved = await payrun(["approve", run.id, "--yes", "--json"], {
      cwd,
      env: { PAYRUN_HOME: home, PAYRUN_TOKEN: token },
    });
    expect(approved.json()).toMatchObject({ accepted: true });

    const doctor = await payrun(["doctor", "--json"], elsewhere);
    expect(doctor.json()).toMatchObject({ ok: true });

    child.kill("SIGINT");
    await vi.waitFor(() => expect(child.exitCode).toBe(0), { timeout: 60_000, interval: 100 });
    await untilNoneIsLeft(home);
  });

  test("a kill that can't be caught leaves nothing behind either", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const child = await up(cwd, await stackSettings(home));
    child.kill("SIGKILL");
    await untilNoneIsLeft(home);
  });

  test("a port that was set and is taken exits 4 and starts nothing", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const env = { ...(await stackSettings(home)), PAYRUN_GATEWAY_PORT: String(port) };
    const result = await payrun(["up"], { cwd, env });
    expect(result.code).toBe(4);
    expect(result.stderr).toContain("PAYRUN_GATEWAY_PORT");
    expect(processesOf(home)).toEqual([]);
  });

  test.runIf(isLong)("Ctrl-C while it starts leaves nothing behind", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const child = spawn(process.execPath, [MAIN, "up"], {
      cwd,
      env: await stackSettings(home),
      stdio: "ignore",
    });
    await vi.waitFor(() => expect(processesOf(home).length).toBeGreaterThan(1), {
      timeout: 30_000,
      interval: 20,
    });
    child.kill("SIGINT");
    await vi.waitFor(() => expect(child.exitCode).not.toBeNull(), { timeout: 60_000 });
    await untilNoneIsLeft(home);
  });
});
