import { isLong } from "../support/long.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";

import { describe, expect, onTestFinished, test } from "vitest";

import type { RunStatus } from "../../src/api/runs.ts";
import { MAIN, payrun, temporaryFolder } from "./cli.ts";
import { startUp } from "./start-up.ts";
import { processesOf, stackSettings, untilNoneIsLeft } from "./stack.ts";

/** Returns the process id of the worker that runs in this home. */
function workerOf(home: string): number {
  const isWorker = (pid: string): boolean =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("src/worker/main.ts");
  const [pid] = processesOf(home).filter(isWorker);
  if (pid === undefined) throw new Error("no worker runs");
  return Number(pid);
}

describe("up", () => {
  test("up starts everything, other terminals find it, and Ctrl-C leaves no process behind", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const env = await stackSettings(home);
    const { child, said } = await startUp(cwd, env);
    // Also what Temporal's server and the sandbox write.
    const kept = readdirSync(home, { recursive: true, encoding: "utf8" });
    expect(kept).toEqual(expect.arrayContaining(["admin.token", "temporal.db", "people"]));
    for (const file of [".", ...kept]) {
      const { mode } = statSync(join(home, file), { throwIfNoEntry: false }) ?? { mode: 0 };
      expect(mode & 0o077, file).toBe(0);
    }
    expect(said()).toContain("payrun launch ");
    expect(said()).toContain("payrun approve weekly-vendors --as approver");
    const elsewhere = { cwd, env: { PAYRUN_HOME: home } };
    const launched = await payrun(["status", "--json"], elsewhere);
    expect(launched.json()).toMatchObject({ items: [], totalCount: 0 });
    const again = await payrun(["up"], elsewhere);
    expect(again.code).toBe(4);
    expect(again.stderr).toContain("already");

    const made = await payrun(["token", "create", "olga", "--role", "owner", "--json"], elsewhere);
    expect(made.json()).toMatchObject({ token: expect.stringMatching(/^payrun_/) });
    expect(made.stderr).toContain("--as olga");
    // A maker is printed as the store has it, not as the command that can be typed here.
    const tokens = await payrun(["token", "list"], elsewhere);
    expect(tokens.stdout).toMatch(/ approver .*all +payrun up +until /);
    const playbook = join(import.meta.dirname, "../../playbooks/weekly-vendors.yaml");
    const run = (await payrun(["launch", playbook, "--json"], elsewhere)).json<RunStatus>();
    const own = await payrun(["approve", run.id, "--yes"], elsewhere);
    expect([own.code, own.stderr]).toEqual([
      1,
      expect.stringMatching(/Refused: .*\n.*payrun approve weekly-vendors\/\S+ --as approver/),
    ]);
    // The approver made at the start counts, and so does a person made before the launch.
    for (const person of ["approver", "olga"]) {
      const words = ["approve", run.id, "--as", person, "--yes", "--json"];
      const approved = await payrun(words, elsewhere);
      expect(approved.json(), person).toMatchObject({ accepted: true });
    }
    const nobody = await payrun(["approve", run.id, "--as", "bob", "--yes"], elsewhere);
    expect([nobody.code, nobody.stderr]).toEqual([
      2,
      expect.stringContaining("it has those of local-admin, approver, olga"),
    ]);

    const worker = workerOf(home);
    process.kill(worker, "SIGKILL");
    await expect.poll(said).toContain("the worker runs again");
    expect(said()).toContain("the worker has ended (SIGKILL)");
    expect(workerOf(home)).not.toBe(worker);

    // It takes Temporal a moment, longer on a busy machine, to see that the new worker polls.
    await expect
      .poll(async () => (await payrun(["doctor", "--json"], elsewhere)).json())
      .toMatchObject({ ok: true });
    const clock = await payrun(["sandbox", "clock", "--scale", "3600", "--json"], elsewhere);
    expect(clock.json()).toMatchObject({ scale: 3_600 });
    const bank = clock.json<{ bank: string }>().bank;
    const later = await payrun(["sandbox", "clock", "--advance", "PT6H", "--json"], elsewhere);
    const passedMs = Date.parse(later.json<{ bank: string }>().bank) - Date.parse(bank);
    expect(passedMs).toBeGreaterThanOrEqual(6 * 3_600_000);
    const trail = await payrun(["audit", "verify", "--business", "sandbox"], elsewhere);
    expect([trail.code, trail.stderr]).toEqual([0, ""]);

    child.kill("SIGINT");
    await expect.poll(() => child.exitCode).toBe(0);
    await untilNoneIsLeft(home);
  });

  test.runIf(isLong)("a kill that can't be caught leaves no process of up behind", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const { child } = await startUp(cwd, await stackSettings(home), "--json");
    child.kill("SIGKILL");
    await untilNoneIsLeft(home);
  });

  test("up refuses an unknown fixture, or another than the sandbox began with, and says what helps", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const env = await stackSettings(home);
    const unknown = await payrun(["up", "--fixture", "smaple"], { cwd, env });
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/--fixture must be one of blank.* or a file; got "smaple"/),
    ]);
    mkdirSync(join(home, "sandbox"), { recursive: true });
    writeFileSync(join(home, "sandbox.fixture"), "sample\n");
    const other = await payrun(["up", "--fixture", "unverified"], { cwd, env });
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("has begun with “sample”");
    expect(other.stderr).toContain(`PAYRUN_HOME=${home}-unverified npx --prefix `);
  });

  test("up exits 4 and starts nothing if a configured port is taken", async () => {
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

  test.runIf(isLong)("Ctrl-C while up is starting leaves no process behind", async () => {
    const cwd = temporaryFolder();
    const home = join(cwd, "home");
    const child = spawn(process.execPath, [MAIN, "up"], {
      cwd,
      env: await stackSettings(home),
      stdio: "ignore",
    });
    await expect.poll(() => processesOf(home).length, { interval: 20 }).toBeGreaterThan(1);
    child.kill("SIGINT");
    await expect.poll(() => child.exitCode).not.toBeNull();
    await untilNoneIsLeft(home);
  });
});
