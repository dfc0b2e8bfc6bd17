import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inspect } from "node:util";

import { expect, test } from "vitest";

import { ConfigError, environmentWith, loadConfig } from "../../src/config.ts";

const DEFAULT_BUSINESS = {
  PAYMENTS_API_URL: "https://pay.example.com/",
  PAYMENTS_API_TOKEN: "secret-token",
  PAYMENTS_BUSINESS_ID: "biz_1",
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("an empty environment gives the documented defaults and no business", () => {
  const config = loadConfig({});
  expect(config.home).toBe(resolve(".payrun"));
  expect(config.databaseUrl).toBe(`sqlite:${resolve(".payrun/payrun.db")}`);
  expect(config.gateway).toMatchObject({ host: "127.0.0.1", port: 8088, isSet: false });
  expect(config.gateway.limits.connections).toBe(1_000);
  expect(config.sandbox).toEqual({ port: 8089, isSet: false });
  expect(config.temporal.embeddedPort).toEqual({ port: 7233, isSet: false });
  expect(config.temporal.connectionOptions.address).toBe("127.0.0.1:7233");
  expect(config.temporal.namespace).toBe("default");
  expect(config.gatewayUrl).toBe("http://127.0.0.1:8088");
  expect(config.publicUrl).toBe("http://127.0.0.1:8088");
  expect(config.profiles.all()).toEqual([]);
  expect(config.warnings).toEqual([]);
});

test("a variable that is set to nothing counts as not set", () => {
  const config = loadConfig({ PAYRUN_GATEWAY_PORT: "", PAYRUN_TOKEN: "  " });
  expect(config.gateway).toMatchObject({ port: 8088, isSet: false });
  expect(config.token).toBeUndefined();
});

test("a port that was set explicitly is known as set, even if it is the default", () => {
  const config = loadConfig({ PAYRUN_GATEWAY_PORT: "8088", PAYRUN_TEMPORAL_PORT: "7400" });
  expect(config.gateway.isSet).toBe(true);
  expect(config.temporal.embeddedPort).toEqual({ port: 7400, isSet: true });
  expect(config.temporal.connectionOptions.address).toBe("127.0.0.1:7400");
  expect(config.sandbox.isSet).toBe(false);
});

test("proxies are trusted by address or network, and anything else is refused with an example", () => {
  const trusted = (value: string) => ({ PAYRUN_TRUSTED_PROXIES: value });
  expect(loadConfig({}).gateway.limits.trustedProxies).toEqual([]);
  const { limits } = loadConfig(trusted("10.0.3.4, 10.0.8.0/24,fd00::/8")).gateway;
  expect(limits.trustedProxies).toEqual(["10.0.3.4", "10.0.8.0/24", "fd00::/8"]);
  for (const value of [
    "caddy",
    "10.0.0.0/33",
    "10.0.0/8",
    "10.0.0.0/8/8",
    "10.0.0.1,*",
    "::/129",
  ]) {
    expect(problemsOf(trusted(value)), value).toEqual([
      expect.stringMatching(
        /PAYRUN_TRUSTED_PROXIES must be addresses or networks like 10\.0\.0\.0\/8/,
      ),
    ]);
  }
});

test("the store is in Payrun's home unless its URL says otherwise", () => {
  expect(loadConfig({ PAYRUN_HOME: "/tmp/h" }).databaseUrl).toBe("sqlite:/tmp/h/payrun.db");
  const env = { PAYRUN_HOME: "/tmp/h", PAYRUN_DATABASE_URL: "sqlite:///srv/store.db" };
  expect(loadConfig(env).databaseUrl).toBe("sqlite:/srv/store.db");
  const relative = loadConfig({ PAYRUN_DATABASE_URL: "sqlite:store.db" }).databaseUrl;
  expect(relative).toBe(`sqlite:${resolve("store.db")}`);
});

test("a gateway that listens on every address is called at the machine's own", () => {
  const config = loadConfig({ PAYRUN_GATEWAY_HOST: "0.0.0.0", PAYRUN_GATEWAY_PORT: "9000" });
  expect(config.gatewayUrl).toBe("http://127.0.0.1:9000");
  expect(loadConfig({ PAYRUN_GATEWAY_HOST: "::1" }).gatewayUrl).toBe("http://[::1]:8088");
});

test("all mistakes are reported at once, each with the variable's name and what it must be", () => {
  const problems = problemsOf({
    PAYRUN_GATEWAY_PORT: "80a",
    PAYRUN_TEMPORAL_PORT: "65000",
    PAYRUN_PUBLIC_URL: "ftp://example.com",
    PAYRUN_DATABASE_URL: "mysql://x",
    PAYMENTS_API_URL: "https://pay.example.com",
  });
  expect(problems).toHaveLength(6);
  expect(problems[0]).toBe(
    'PAYRUN_DATABASE_URL must be sqlite: and the path of a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE, not "mysql://x"',
  );
  expect(problems.join("\n")).toMatch(/PAYRUN_GATEWAY_PORT must be a port number .*"80a"/);
  expect(problems.join("\n")).toMatch(/PAYRUN_TEMPORAL_PORT .*64535/);
  expect(problems.join("\n")).toMatch(/PAYRUN_PUBLIC_URL must be an http/);
  expect(problems.join("\n")).toMatch(/PAYMENTS_BUSINESS_ID is missing/);
  expect(problems.join("\n")).toMatch(/PAYMENTS_API_TOKEN is missing/);
});

test("Temporal's own variables decide which Temporal server is used", () => {
  const { temporal } = loadConfig({
    TEMPORAL_ADDRESS: "temporal.example.com:7233",
    TEMPORAL_NAMESPACE: "bills",
    TEMPORAL_CLI: "/opt/temporal",
    PAYRUN_ALLOW_PLAINTEXT: "temporal",
  });
  expect(temporal.isExternal).toBe(true);
  expect(temporal.connectionOptions.address).toBe("temporal.example.com:7233");
  expect(temporal.namespace).toBe("bills");
  expect(temporal.cliPath).toBe("/opt/temporal");
});

test("a Temporal profile that doesn't exist is reported by name", () => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-config-"));
  const file = join(folder, "temporal.toml");
  writeFileSync(file, '[profile.default]\naddress = "from-file:7233"\n');
  const env = { TEMPORAL_CONFIG_FILE: file, PAYRUN_ALLOW_PLAINTEXT: "temporal" };
  expect(loadConfig(env).temporal.connectionOptions.address).toBe("from-file:7233");
  expect(problemsOf({ ...env, TEMPORAL_PROFILE: "nowhere" })[0]).toMatch(/TEMPORAL_.*nowhere/);
});

test("without a profiles file the business “default” is read from PAYMENTS_ variables", () => {
  const { profiles } = loadConfig({
    ...DEFAULT_BUSINESS,
    PAYMENTS_WEBHOOK_SECRETS: "whsec_a, whsec_b,",
    PAYMENTS_ACH_ACCEPTED_BY: "Dana Reyes",
    PAYMENTS_ACH_ACCEPTED_AT: "2026-01-31",
    PAYMENTS_API_SANDBOX: "TRUE",
  });
  expect(profiles.all()).toEqual([
    {
      name: "default",
      apiUrl: "https://pay.example.com",
      businessId: "biz_1",
      token: { kind: "value", value: "secret-token" },
      webhookSecrets: ["whsec_a", "whsec_b"],
      achAuthorization: { acceptedBy: "Dana Reyes", acceptedAt: "2026-01-31" },
      sandbox: true,
    },
  ]);
  expect(profiles.get("default")).toBe(profiles.byBusinessId("biz_1"));
  expect(profiles.get("other")).toBeUndefined();
});

test("an ACH authorization without its person or its date is refused", () => {
  const env = { ...DEFAULT_BUSINESS, PAYMENTS_ACH_ACCEPTED_BY: "Dana Reyes" };
  expect(problemsOf(env)).toEqual(["PAYMENTS_ACH_ACCEPTED_AT is missing"]);
  const wrong = { ...env, PAYMENTS_ACH_ACCEPTED_AT: "yesterday" };
  expect(problemsOf(wrong)[0]).toMatch(/PAYMENTS_ACH_ACCEPTED_AT must be a date/);
});

test("signers or channels without a business name the file of `up` in which they belong", () => {
  expect(problemsOf({ PAYMENTS_NOTIFY_SLACK: "https://hooks.example.com/x" })).toEqual([
    "PAYMENTS_NOTIFY_SLACK belongs to the business that PAYMENTS_API_URL, PAYMENTS_BUSINESS_ID and PAYMENTS_API_TOKEN describe, and none of these is set. The sandbox of “payrun up” takes no PAYMENTS_…: unset them, and write signers, notify and achAuthorization into sandbox-profiles.yaml in PAYRUN_HOME, which its first start makes",
  ]);
});

test("a token never crosses a network in the clear, except to a sandbox", () => {
  const env = { ...DEFAULT_BUSINESS, PAYMENTS_API_URL: "http://pay.example.com" };
  expect(problemsOf(env)[0]).toMatch(/PAYMENTS_API_URL must be https/);
  expect(problemsOf({ ...env, PAYMENTS_API_SANDBOX: "yes" })).toEqual([]);
  expect(problemsOf({ ...env, PAYMENTS_API_URL: "http://localhost:8089" })).toEqual([]);
});

test("secrets are masked in the list of settings and stay out of an inspected configuration", () => {
  const config = loadConfig({ ...DEFAULT_BUSINESS, PAYMENTS_WEBHOOK_SECRETS: "whsec_a" });
  const listed = config.settings.find(({ name }) => name === "PAYMENTS_API_TOKEN");
  expect(listed).toMatchObject({ value: "••••••", isSet: true });
  expect(inspect(config, { depth: null })).not.toMatch(/secret-token|whsec_a/);
});

test("no problem repeats a secret", () => {
  const env = { ...DEFAULT_BUSINESS, PAYMENTS_API_URL: "nonsense" };
  expect(problemsOf(env).join()).not.toContain("secret-token");
});

test("every setting has a description for payrun doctor", () => {
  for (const { name, description } of loadConfig({}).settings) {
    expect(description.length, name).toBeGreaterThan(10);
  }
});

test("a mistyped variable is reported with the name that was probably meant", () => {
  const { warnings } = loadConfig({ PAYRUN_GATEWAY_PROT: "1", PAYRUN_SOMETHING_ELSE: "1" });
  expect(warnings).toEqual([
    "PAYRUN_GATEWAY_PROT is not a setting: did you mean PAYRUN_GATEWAY_PORT?",
    "PAYRUN_SOMETHING_ELSE is not a setting",
  ]);
});

test("a child process gets our environment with some settings replaced", () => {
  const env = environmentWith({ PAYRUN_HOME: "/tmp/demo", PAYRUN_DATABASE_URL: undefined });
  expect(env["PAYRUN_HOME"]).toBe("/tmp/demo");
  expect(env).not.toHaveProperty("PAYRUN_DATABASE_URL");
  expect(env["PATH"]).toBe(process.env["PATH"]);
});

test("a PostgreSQL URL is used as it is, and shown without its password", () => {
  const address = "postgres://payrun:a%40b:c@db.example:5433/payrun?sslmode=verify-full";
  const config = loadConfig({ PAYRUN_DATABASE_URL: address });
  expect(config.databaseUrl).toBe(address);
  expect(config.databasePoolSize).toBe(10);
  const shown = config.settings.find(({ name }) => name === "PAYRUN_DATABASE_URL")?.value;
  expect(shown).toBe("postgres://payrun:••••••@db.example:5433/payrun?sslmode=verify-full");
  const [problem] = problemsOf({ PAYRUN_DATABASE_URL: "postgres://payrun:a@b@[db/payrun" });
  expect(problem).toMatch(/must be postgres:\/\/USER/);
  expect(problem).not.toContain("a@b");
});

test.each([
  "postgres://payrun:a,b%40c@db1.example:5432,db2.example:5432/payrun?target_session_attrs=read-write",
  "postgresql://db1.example,db2.example/payrun?sslmode=require",
  "postgres://payrun:a,b%40c@/payrun?host=db1.example%2Cdb2.example&sslmode=require",
])("an address of several hosts is refused with the reason: %s", (address) => {
  const [problem] = problemsOf({ PAYRUN_DATABASE_URL: address });
  expect(problem).toMatch(/PAYRUN_DATABASE_URL must name one host, the one that takes writes/);
  expect(problem).not.toContain("a,b");
  const comma = "postgres://payrun:a,b@db.example/payrun?sslmode=require&options=-cx%3Da,b";
  expect(loadConfig({ PAYRUN_DATABASE_URL: comma }).databaseUrl).toBe(comma);
});

test("a pool has from 2 to 100 connections", () => {
  expect(loadConfig({ PAYRUN_DATABASE_POOL: "25" }).databasePoolSize).toBe(25);
  for (const wrong of ["1", "101", "many"]) {
    expect(problemsOf({ PAYRUN_DATABASE_POOL: wrong })[0]).toMatch(/from 2 to 100/);
  }
});
