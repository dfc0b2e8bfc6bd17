import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, inject, onTestFinished } from "vitest";

import { openStore } from "../../src/store/open.ts";
import { noteWorker } from "../../src/store/sql/worker-leases.ts";
import { Keyring } from "../../src/vault/keyring.ts";
import { Vault } from "../../src/vault/vault.ts";
import { sharedSandboxTest } from "../sandbox/sandbox-test.ts";
import { startProxy } from "../support/proxy.ts";
import type { TestSandbox } from "../support/sandbox.ts";
import { payrun, temporaryFolder } from "./cli.ts";

const test = sharedSandboxTest();

/** A running Temporal server, so that doctor doesn't wait five seconds for one. */
const TEMPORAL = { TEMPORAL_ADDRESS: inject("temporalAddress") };

interface Checks {
  readonly checks: readonly { name: string; state: string; text: string; remedy?: string }[];
}

const PUBLIC_URL = "http://127.0.0.1:9";

test("doctor names the endpoint that the service has paused, and --fix resumes it", async ({
  sandbox,
}) => {
  const cwd = temporaryFolder();
  const { businessId, token } = sandbox.business;
  const profile = { apiUrl: sandbox.url, businessId, token, webhookSecrets: [], sandbox: true };
  writeFileSync(join(cwd, "profiles.json"), JSON.stringify({ businesses: { acme: profile } }));
  const store = await openStore(`sqlite:${cwd}/home/payrun.db`);
  await store.close();
  const profiles = { PAYRUN_PROFILES: join(cwd, "profiles.json") };
  const env = { ...TEMPORAL, ...profiles, PAYRUN_PUBLIC_URL: PUBLIC_URL };
  const doctor = async (...flags: readonly string[]) => {
    const result = await payrun(["doctor", "--json", ...flags], { cwd, env });
    const { checks } = result.json<Checks>();
    return checks.find(({ name }) => name === "Webhooks of acme");
  };

  expect((await doctor())?.text).toContain(`leads to ${PUBLIC_URL}/webhooks/acme`);
  const made = await sandbox.api<{ id: string }>("POST", "/v1/webhook-endpoints", {
    body: { url: `${PUBLIC_URL}/webhooks/acme`, events: ["*"] },
  });
  expect(await doctor()).toMatchObject({ state: "ok" });
  await untilPaused(sandbox, made.body.id);
  expect(await doctor()).toMatchObject({
    state: "warning",
    text: `the service has paused ${made.body.id}`,
    remedy: expect.stringContaining("doctor --fix"),
  });
  await sandbox.control.faults([
    {
      ...{ method: "PATCH", path: `/v1/webhook-endpoints/${made.body.id}` },
      ...{ when: "before", effect: "status", status: 403 },
    },
  ]);
  const kept = await doctor("--fix");
  expect(kept?.state).toBe("failed");
  expect(kept?.text).toMatch(/it does not resume \S+: .*\(the token needs webhooks:manage\)/);
  expect(kept?.remedy).toContain(
    `${PUBLIC_URL}/webhooks/acme (PAYRUN_PUBLIC_URL names the gateway)`,
  );
  await sandbox.control.faults([]);
  const fixed = await doctor("--fix");
  expect(fixed).toMatchObject({ state: "ok", text: expect.stringContaining("resumed now") });
});

test("doctor recognizes another Payrun's gateway because it refuses our token", async () => {
  const server = createServer((request, response) => {
    const isReady = request.url === "/ready";
    response.writeHead(isReady ? 200 : 401, { "content-type": "application/json" });
    const refusal = { error: "unauthorized", message: "This token is not known here." };
    response.end(JSON.stringify(isReady ? { store: "ok", temporal: "ok" } : refusal));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gatewayOf = async (env: Readonly<Record<string, string>>) => {
    const result = await payrun(["doctor", "--json"], {
      cwd: temporaryFolder(),
      env: { ...TEMPORAL, PAYRUN_GATEWAY_URL: url, ...env },
    });
    return result.json<Checks>().checks.find(({ name }) => name === "Gateway");
  };
  expect(await gatewayOf({})).toMatchObject({ state: "ok" });
  expect(await gatewayOf({ PAYRUN_TOKEN: "prt_of_another" })).toMatchObject({
    state: "failed",
    text: `${url} answers, but accepts no token of yours: This token is not known here.`,
    remedy: expect.stringContaining("another Payrun"),
  });
});

/** Waits until the service has paused an endpoint, after twenty failed deliveries in a row. */
async function untilPaused(sandbox: TestSandbox, endpointId: string): Promise<void> {
  const bankAccount = {
    accountNumber: "123456789",
    routingNumber: "021000021",
    accountType: "checking",
  };
  const { body: payee } = await sandbox.api<{ id: string }>("POST", "/v1/contacts", {
    body: { displayName: "Paper", bankAccount },
  });
  for (let bill = 0; bill < 20; bill += 1) {
    const amount = { totalAmountCents: 100 + bill, dueDate: "2030-01-01" };
    await sandbox.control.createPayable({ contactId: payee.id, ...amount });
  }
  const status = async (): Promise<string> => {
    const path = `/v1/webhook-endpoints/${endpointId}`;
    return (await sandbox.api<{ status: string }>("GET", path)).body.status;
  };
  await expect.poll(status).toBe("paused");
}

test("doctor reports that no worker runs and that nobody gets notices, and what helps", async ({
  sandbox,
}) => {
  const cwd = temporaryFolder();
  const store = await openStore(`sqlite:${cwd}/home/payrun.db`);
  await store.close();
  const env = {
    ...TEMPORAL,
    PAYMENTS_API_URL: sandbox.url,
    PAYMENTS_API_TOKEN: sandbox.business.token,
    PAYMENTS_BUSINESS_ID: sandbox.business.businessId,
    PAYMENTS_API_SANDBOX: "true",
  };
  const { code, stdout } = await payrun(["doctor"], { cwd, env });
  expect(code).toBe(4);
  expect(stdout).toMatch(
    /✗ Workers: no worker has been heard from\n +“npx --prefix \S+ payrun worker”/,
  );
  expect(stdout).toMatch(/! Notices: nobody at default is notified of anything/);
});

test("doctor reports tables that it may not read as a failed check of the workers", async () => {
  const cwd = temporaryFolder();
  const path = join(cwd, "payrun.db");
  const store = await openStore(`sqlite:${path}`);
  await noteWorker(store.db, "host:1");
  // Like the reader's role in PostgreSQL, which may not read tokens.
  await store.db.schema.dropTable("tokens").execute();
  await store.close();
  const env = { ...TEMPORAL, PAYRUN_DATABASE_URL: `sqlite:${path}` };
  const { checks } = (await payrun(["doctor", "--json"], { cwd, env })).json<Checks>();
  expect(checks.find(({ name }) => name === "Store")).toMatchObject({ state: "ok" });
  expect(checks.find(({ name }) => name === "Workers")).toMatchObject({
    state: "failed",
    text: expect.stringContaining("could be checked"),
    remedy: expect.stringContaining("PAYRUN_DATABASE_URL"),
  });
});

test("doctor reports a store that another process has locked, and calls no worker frozen", async () => {
  const cwd = temporaryFolder();
  const path = join(cwd, "payrun.db");
  const store = await openStore(`sqlite:${path}`);
  await noteWorker(store.db, "host:1");
  const longAgo = { until_ms: Date.now() - 90_000 };
  await store.db.updateTable("leases").set(longAgo).execute();
  await store.close();
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec("begin immediate");
  const env = { ...TEMPORAL, PAYRUN_DATABASE_URL: `sqlite:${path}` };
  const { checks } = (await payrun(["doctor", "--json"], { cwd, env })).json<Checks>();
  expect(checks.find(({ name }) => name === "Store")).toMatchObject({
    state: "failed",
    text: expect.stringContaining("another process keeps the store locked"),
    remedy: expect.stringContaining("Close whatever has the store open"),
  });
  const workers = checks.find(({ name }) => name === "Workers");
  expect(workers?.text).toContain("nothing could be written to the store");
  expect(workers?.remedy).not.toContain("frozen");
});

test("doctor warns about a missing encryption key, unless every business is a sandbox", async () => {
  const encryption = async (more: Record<string, string>) => {
    const business = { PAYMENTS_API_URL: "https://127.0.0.1:9", PAYMENTS_BUSINESS_ID: "biz_1" };
    const env = { ...TEMPORAL, ...business, PAYMENTS_API_TOKEN: "a-token", ...more };
    const { checks } = (await payrun(["doctor", "--json"], { env })).json<Checks>();
    return checks.find(({ name }) => name === "Encryption");
  };
  expect(await encryption({})).toMatchObject({
    state: "warning",
    text: expect.stringContaining("these settings have no key"),
    remedy: expect.stringContaining("PAYRUN_ENCRYPTION_KEYS"),
  });
  const keys = `new:${randomBytes(32).toString("base64")}`;
  expect(await encryption({ PAYRUN_ENCRYPTION_KEYS: keys })).toMatchObject({ state: "ok" });
  expect(await encryption({ PAYMENTS_API_SANDBOX: "true" })).toBeUndefined();
});

test("doctor counts the vault's values under each key, and names a key that was removed too early", async () => {
  const cwd = temporaryFolder();
  const path = join(cwd, "payrun.db");
  const store = await openStore(`sqlite:${path}`);
  const key = { id: "old", key: randomBytes(32) };
  const of = { businessId: "biz_1", kind: "tax-id", nowMs: 1 };
  await new Vault(new Keyring([key])).put(store.db, of, "1");
  await store.close();
  const vaultCheck = async (keys: string) => {
    const place = { PAYRUN_DATABASE_URL: `sqlite:${path}` };
    const env = { ...TEMPORAL, ...place, PAYRUN_ENCRYPTION_KEYS: keys };
    const { checks } = (await payrun(["doctor", "--json"], { cwd, env })).json<Checks>();
    return checks.find(({ name }) => name === "Vault");
  };
  const fresh = `new:${randomBytes(32).toString("base64")}`;
  const rotating = await vaultCheck(`${fresh},old:${key.key.toString("base64")}`);
  expect(rotating).toMatchObject({ state: "ok", text: "1 value under old" });
  expect(await vaultCheck(fresh)).toMatchObject({
    ...{ state: "failed", text: "1 value under old; there is no key old" },
    remedy: expect.stringContaining("Put it back"),
  });
});

test("doctor prints the ports, profiles and limits that a running up uses, not the defaults", async () => {
  const cwd = temporaryFolder();
  await (await openStore(`sqlite:${cwd}/home/payrun.db`)).close();
  const running = {
    ...{ pid: process.pid, gatewayUrl: "http://127.0.0.1:8090", temporal: "127.0.0.1:7234" },
    ...{ sandboxUrl: "http://127.0.0.1:8091", startedAt: new Date().toISOString() },
  };
  writeFileSync(join(cwd, "home", "running.json"), JSON.stringify(running));
  const profile =
    "{ apiUrl: http://127.0.0.1:8091, businessId: biz_1, token: t, sandbox: true, limits: { bill: $50k } }";
  writeFileSync(join(cwd, "home", "sandbox-profiles.yaml"), `businesses:\n  sandbox: ${profile}\n`);
  const { settings, checks } = (await payrun(["doctor", "--json"], { cwd })).json<
    Checks & { settings: readonly { name: string; value: string }[] }
  >();
  expect(checks.find(({ name }) => name === "Limits of sandbox")?.text).toBe("bill $50,000.00");
  const valueOf = (name: string) => settings.find((each) => each.name === `PAYRUN_${name}`)?.value;
  expect(["GATEWAY_PORT", "GATEWAY_URL", "SANDBOX_PORT", "TEMPORAL_PORT"].map(valueOf)).toEqual([
    ...["8090", "http://127.0.0.1:8090", "8091", "7234"],
  ]);
  expect(valueOf("PROFILES")).toBe("sandbox-profiles.yaml in PAYRUN_HOME");
});

test("doctor says which proxy is used for what, and shows no password of it", async () => {
  const cwd = temporaryFolder();
  const channels = {
    ops: { slack: "https://hooks.slack.example/T0" },
    own: { webhook: "https://hooks.own.example", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
  };
  const real = { businessId: "biz_1", token: "t", notify: { channels } };
  const businesses = {
    acme: { ...real, apiUrl: "https://payments.example" },
    near: { businessId: "biz_2", token: "t", apiUrl: "http://127.0.0.1:9" },
  };
  writeFileSync(join(cwd, "profiles.json"), JSON.stringify({ businesses }));
  const proxy = await startProxy();
  const env = {
    ...TEMPORAL,
    PAYRUN_PROFILES: join(cwd, "profiles.json"),
    HTTPS_PROXY: `http://ann:s3cret@127.0.0.1:${proxy.port}`,
    no_proxy: "own.example",
  };
  const result = await payrun(["doctor", "--json"], { cwd, env });
  const { checks } = result.json<Checks>();
  expect(checks.find(({ name }) => name === "Proxies")).toEqual({
    name: "Proxies",
    state: "ok",
    text: [
      "none for Temporal, the gateway, webhook of acme, the service of near",
      `${proxy.url} (HTTPS_PROXY) for the service of acme, slack of acme`,
      "never one for e-mail and PostgreSQL",
    ].join("; "),
  });
  expect(new Set(proxy.asked)).toEqual(new Set(["CONNECT payments.example:443"]));
  expect(result.stdout + result.stderr).not.toContain("s3cret");
  const none = await payrun(["doctor", "--json"], { cwd, env: { ...env, HTTPS_PROXY: "" } });
  expect(none.json<Checks>().checks.map(({ name }) => name)).not.toContain("Proxies");
});

test("doctor names the exceptions of NO_PROXY that it can't read, which are reached through the proxy", async () => {
  const proxy = { HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "[fd00::]/8,10.0.0.0/99,a.example" };
  const result = await payrun(["doctor", "--json"], {
    cwd: temporaryFolder(),
    env: { ...TEMPORAL, ...proxy },
  });
  const { checks } = result.json<Checks>();
  expect(checks.filter(({ name }) => name === "Proxies").at(-1)).toMatchObject({
    ...{ state: "warning", text: "NO_PROXY excepts nothing by 10.0.0.0/99" },
  });
});

test("a variable that names no proxy is refused by its name, without its value", async () => {
  const env = { ...TEMPORAL, HTTPS_PROXY: "socks5://ann:s3cret@proxy.example" };
  const result = await payrun(["doctor"], { cwd: temporaryFolder(), env });
  expect([result.code, result.stderr]).toEqual([2, expect.stringMatching(/HTTPS_PROXY must be/)]);
  expect(result.stdout + result.stderr).not.toContain("s3cret");
});
