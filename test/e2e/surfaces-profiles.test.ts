import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { MAIN, payrun, type CliResult } from "../cli/cli.ts";
import { takeNamespace } from "../support/take-namespace.ts";
import type { Json } from "../support/sandbox.ts";
import { machineEnv } from "../support/machine-env.ts";
import { PATIENCE_MS } from "../support/waits.ts";

/**
 * Two businesses from a profiles file. Each part is started by its own command, as a person does
 * who has only read about the commands.
 */

const PLAYBOOK = "kind: pay-run\nbusiness: acme\nselect: { due: all }\n";

let home: string;
let sandbox: string;
let gateway: string;
let env: Record<string, string>;
const tokens: Record<string, string> = {};
const parts: ChildProcess[] = [];

const FIXTURE = {
  businesses: ["acme", "globex"].map((name) => ({
    name,
    balanceCents: 1_000_000,
    bankAccounts: [{ accountNumberLast4: "1234" }],
    contacts: [
      { id: `${name}_paid`, displayName: "Ready", bankAccount: { last4: "1111" } },
      { id: `${name}_bare`, displayName: "No account" },
    ],
    payables: [
      { id: `${name}_1`, contactId: `${name}_paid`, totalAmountCents: 5_000 },
      { id: `${name}_2`, contactId: `${name}_bare`, totalAmountCents: 700 },
    ],
    webhookEndpoints: [{ url: "http://127.0.0.1:9/none", secret: `whsec_${name}` }],
  })),
};

/** Starts a part by its command; resolves with the JSON line that says that it is ready. */
async function start(command: string, settings: Record<string, string>): Promise<Json> {
  const child = spawn(process.execPath, [MAIN, command], {
    cwd: home,
    env: { ...machineEnv(), PAYRUN_HOME: home, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  parts.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return JSON.parse(line) as Json;
}

async function control(path: string, body: unknown): Promise<Json> {
  const response = await fetch(`${sandbox}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Json;
}

function as(role: string, args: readonly string[]): Promise<CliResult> {
  return payrun(args, { cwd: home, env: { ...env, PAYRUN_TOKEN: tokens[role] ?? "" } });
}

async function call(role: string, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${gateway}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens[role]}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "payrun-surfaces-"));
  sandbox = String((await start("sandbox", { PAYRUN_SANDBOX_PORT: "0" }))["url"]);
  const answer = await control("/sandbox/reset", { fixture: FIXTURE });
  const [acme, globex] = answer["businesses"] as { businessId: string; token: string }[];
  writeFileSync(join(home, "acme.token"), `${acme?.token}\n`);
  writeFileSync(
    join(home, "profiles.yaml"),
    [
      "businesses:",
      "  acme:",
      `    apiUrl: ${sandbox}`,
      `    businessId: ${acme?.businessId}`,
      "    token: ${file:acme.token}",
      "    webhookSecrets: [whsec_acme]",
      "    achAuthorization: { acceptedBy: A. Owner, acceptedAt: '2026-01-05' }",
      "    sandbox: true",
      "  globex:",
      "    apiUrl: ${env:GLOBEX_URL}",
      `    businessId: ${globex?.businessId}`,
      `    tokenCommand: echo ${globex?.token}`,
      "    webhookSecrets: [whsec_globex]",
      "    sandbox: true",
    ].join("\n"),
  );
  writeFileSync(join(home, "weekly.yaml"), PLAYBOOK);
  writeFileSync(join(home, "anyone.yaml"), "kind: pay-run\n");
  env = {
    PAYRUN_HOME: home,
    PAYRUN_PROFILES: join(home, "profiles.yaml"),
    GLOBEX_URL: sandbox,
    TEMPORAL_ADDRESS: inject("temporalAddress"),
    TEMPORAL_NAMESPACE: takeNamespace(),
    PAYRUN_GATEWAY_PORT: "0",
  };
  gateway = String((await start("gateway", env))["url"]);
  env = { ...env, PAYRUN_GATEWAY_URL: gateway };
  await start("worker", env);
  await Promise.all(
    ["viewer", "launcher", "operator", "admin", "controller"].map(async (role) => {
      const made = await payrun(["token", "create", role, "--role", role, "--json"], {
        cwd: home,
        env,
      });
      tokens[role] = made.json<{ id: string; token: string }>().token;
    }),
  );
});

afterAll(async () => {
  await Promise.all(
    parts.map(async (part) => {
      if (part.exitCode !== null) return;
      const ended = once(part, "exit");
      part.kill("SIGTERM");
      await ended;
    }),
  );
  rmSync(home, { recursive: true, force: true });
});

describe("two businesses, from a profiles file", () => {
  test("with two businesses, a playbook that names neither is refused with their names, exit 2", async () => {
    const { code, stderr } = await as("admin", ["apply", "anyone.yaml"]);
    expect(code).toBe(2);
    expect(stderr).toContain("acme, globex");
  });

  test("a run pays for the business that its playbook names, and says why a bill is left out", async () => {
    const launched = await as("admin", [
      "launch",
      "weekly.yaml",
      "--period",
      "2026-03-02",
      "--json",
    ]);
    expect(launched.code).toBe(0);
    const { id } = launched.json<RunStatus>();
    expect(id).toBe("pay-run/acme/weekly/2026-03-02");
    await vi.waitFor(
      async () => {
        const run = (await as("viewer", ["status", id, "--json"])).json<RunStatus>();
        expect(run).toMatchObject({
          id,
          kind: "pay-run",
          phase: "awaiting-approval",
          counts: { "awaiting-approval": 1, skipped: 1 },
          totalCents: 5_000,
          payments: [
            { payableId: "acme_1", amountCents: 5_000, state: "awaiting-approval", attempts: 0 },
            { payableId: "acme_2", state: "skipped", reason: expect.stringMatching(/account/) },
          ],
        });
      },
      { timeout: PATIENCE_MS, interval: 500 },
    );
    const quick = await call("viewer", "GET", `/v1/runs/${encodeURIComponent(id)}?skipped=false`);
    expect(((await quick.json()) as RunStatus).payments).toHaveLength(1);
  });

  test("a plan's answer has the shape of a run, with planned and skipped bills", async () => {
    const answer = await call("launcher", "POST", "/v1/plans", {
      playbook: "globex-all",
      text: "kind: pay-run\nbusiness: globex\nselect: { due: all }\n",
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      kind: "pay-run",
      business: "globex",
      phase: "planning",
      counts: { planned: 1, skipped: 1 },
      totalCents: 5_000,
      planHash: expect.any(String),
      payments: [
        { payableId: "globex_1", state: "planned", reason: null },
        { payableId: "globex_2", state: "skipped", reason: expect.any(String) },
      ],
    });
    expect((await as("launcher", ["plan", "globex-all"])).code).toBe(1);
  });

  test("a hold finds the business of a bill that a run has seen, and lasts for a duration", async () => {
    const held = await as("operator", [
      "hold",
      "acme_1",
      "--reason",
      "look",
      "--until",
      "3d",
      "--json",
    ]);
    expect(held.json()).toMatchObject({ business: "acme", scope: "payable", value: "acme_1" });
    expect(held.json<{ until: string | null }>().until).not.toBeNull();
    const unknown = await as("operator", ["hold", "never_seen", "--reason", "look"]);
    expect({ code: unknown.code, stderr: unknown.stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("there is no bill “never_seen”"),
    });
    const { id } = held.json<{ id: string }>();
    expect((await as("operator", ["release", id])).code).toBe(0);
  });

  test("a webhook is accepted only at its own business's address", async () => {
    for (const [path, status] of [
      ["/webhooks/acme", 401],
      ["/webhooks/default", 404],
    ] as const) {
      const answer = await call("viewer", "POST", path, { id: "evt_1" });
      expect({ path, status: answer.status }).toEqual({ path, status });
    }
  });

  test("a token that its file no longer has is reported as a token problem, exit 4", async () => {
    const doctor = await payrun(["doctor", "--json"], { cwd: home, env });
    expect(doctor.stdout).not.toContain("whsec_");
    writeFileSync(join(home, "acme.token"), "not-a-token\n");
    const refused = await as("launcher", ["plan", "weekly", "--json"]);
    expect(refused.code).toBe(4);
    expect(refused.json()).toMatchObject({
      error: "api_unavailable",
      message: expect.stringContaining("token"),
    });
    expect(refused.stdout + refused.stderr).not.toContain("not-a-token");
  });
});
