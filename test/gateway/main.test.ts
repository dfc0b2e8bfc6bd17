import { machineEnv } from "../support/machine-env.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deliver, eventBody, SECRET } from "./support/gateway.ts";
import { PATIENCE_MS } from "../support/waits.ts";

const PROGRAM = fileURLToPath(new URL("../../src/gateway/main.ts", import.meta.url));

let folder: string;
let children: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-gateway-main-"));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly stdout: string[];
  stderr: string;
  readonly exited: Promise<number | null>;
}

function run(settings: Record<string, string> = {}, args: readonly string[] = []): Run {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", PROGRAM, ...args],
    {
      cwd: folder,
      env: {
        ...machineEnv(),
        HOME: folder,
        PAYRUN_HOME: join(folder, "home"),
        PAYRUN_GATEWAY_PORT: "0",
        // No server listens there.
        TEMPORAL_ADDRESS: "127.0.0.1:1",
        PAYMENTS_API_URL: "http://127.0.0.1:1",
        PAYMENTS_API_TOKEN: "api-token",
        PAYMENTS_BUSINESS_ID: "biz_acme",
        PAYMENTS_WEBHOOK_SECRETS: SECRET,
        ...settings,
      },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  children.push(child);
  const started: Run = {
    child,
    stdout: [],
    stderr: "",
    exited: once(child, "exit").then(([code]) => code as number | null),
  };
  if (child.stdout === null || child.stderr === null) throw new Error("the streams are piped");
  createInterface({ input: child.stdout }).on("line", (line) => started.stdout.push(line));
  child.stderr.on("data", (chunk: Buffer) => {
    started.stderr += chunk.toString();
  });
  return started;
}

async function ready(started: Run): Promise<{ ready: boolean; url: string; pid: number }> {
  const deadline = Date.now() + PATIENCE_MS;
  while (started.stdout.length === 0) {
    if (started.child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`not ready: ${started.stderr}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return JSON.parse(started.stdout[0] ?? "") as { ready: boolean; url: string; pid: number };
}

describe("the gateway's process", () => {
  test("the gateway prints its address on one line, takes webhooks without Temporal, and ends on SIGTERM", async () => {
    const started = run();
    const line = await ready(started);
    expect(line).toMatchObject({ ready: true, pid: started.child.pid });
    expect((await fetch(`${line.url}/health`)).status).toBe(200);
    const accepted = await deliver(line.url, eventBody({}), { business: "default" });
    expect(accepted.status).toBe(200);
    started.child.kill("SIGTERM");
    expect(await started.exited).toBe(0);
    expect(started.stdout).toHaveLength(1);
    expect(started.stderr).not.toContain("api-token");
    expect(started.stderr).not.toContain(SECRET);
  });

  test("a webhook that the gateway acknowledged survives a kill", async () => {
    const started = run();
    const { url } = await ready(started);
    const body = eventBody({ id: "evt_kept" });
    expect((await deliver(url, body, { business: "default" })).json["duplicate"]).toBe(false);
    started.child.kill("SIGKILL");
    await started.exited;
    const again = run();
    const answer = await deliver((await ready(again)).url, body, { business: "default" });
    expect(answer.json["duplicate"]).toBe(true);
  });

  test("the gateway refuses webhooks and says why once the store's file is deleted", async () => {
    const path = join(folder, "payrun.db");
    const started = run({ PAYRUN_DATABASE_URL: `sqlite:${path}` });
    const { url } = await ready(started);
    await rm(path);
    const refused = await deliver(url, eventBody({}), { business: "default" });
    expect(refused.status).toBe(503);
    expect(refused.json).toMatchObject({ error: "store_replaced" });
    const answer = await fetch(`${url}/ready`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      ...{ status: "not-ready", store: "replaced" },
      reason: expect.stringMatching(/deleted or replaced.*start the gateway again/),
    });
    await expect
      .poll(() => started.stderr)
      .toMatch(/payrun gateway: The store .*payrun\.db was deleted/);
  });

  test("the gateway ends with its parent if asked to", async () => {
    const started = run({}, ["--exit-with-parent"]);
    await ready(started);
    started.child.stdin?.end();
    expect(await started.exited).toBe(0);
  });

  test("the gateway exits with 4 and names its port if that is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "";
    const started = run({ PAYRUN_GATEWAY_PORT: port });
    expect(await started.exited).toBe(4);
    expect(started.stderr).toContain(port);
    expect(started.stderr).toContain("PAYRUN_GATEWAY_PORT");
    expect(started.stderr).not.toMatch(/\n\s+at /);
    expect(started.stdout).toEqual([]);
    other.close();
  });

  test("the gateway exits with 4 if the store is not Payrun's", async () => {
    const path = join(folder, "foreign.db");
    await writeFile(path, "this is not a database, and long enough to be looked at".repeat(20));
    const started = run({ PAYRUN_DATABASE_URL: `sqlite:${path}` });
    expect(await started.exited).toBe(4);
    expect(started.stderr).toContain("foreign.db");
    expect(started.stderr).not.toMatch(/\n\s+at /);
  });

  test("the gateway exits with 2 and names a setting that can't be used", async () => {
    const started = run({ PAYRUN_GATEWAY_PORT: "eighty" });
    expect(await started.exited).toBe(2);
    expect(started.stderr).toContain("PAYRUN_GATEWAY_PORT");
    expect(started.stderr).not.toMatch(/\n\s+at /);
  });
});
