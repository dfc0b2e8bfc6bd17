import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError, loadConfig } from "../../src/config.ts";
import { environmentWithFile } from "../../src/config/env-file.ts";
import { masked } from "../../src/config/masked.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "src/cli/main.ts");

/** Another machine by its address; no request is ever sent there. */
const ELSEWHERE = "http://gateway.example.com:8088";

let server: Server;
/** Where our server listens, and the tokens that it received. */
let port = 0;
const shown: (string | undefined)[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    shown.push(request.headers.authorization);
    response.setHeader("content-type", "application/json").end('{"items":[]}');
  });
  await new Promise<void>((listening) => server.listen(0, listening));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
});

interface Ended {
  readonly code: number;
  readonly text: string;
}

/** Runs a command in a folder, like a person who has cloned it from anywhere. */
async function payrun(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const options = { cwd: folder, env: { PATH: process.env["PATH"], ...env } };
  const command = ["--disable-warning=ExperimentalWarning", MAIN, ...args];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, command, options);
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: stdout + stderr };
  }
}

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "payrun-attack-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("where a token is sent", () => {
  test("a token is never sent over http to another machine: the command exits with 2 and says why", async () => {
    const env = { PAYRUN_TOKEN: "secret-token", PAYRUN_GATEWAY_URL: ELSEWHERE };
    const { code, text } = await payrun(folderWith({}), ["holds"], env);
    expect(code).toBe(2);
    expect(text).toMatch(/gateway\.example\.com.*without TLS.*in the clear/s);
    expect(text).not.toContain("secret-token");
  });

  test("a token is sent over http to this machine's network address only if a setting allows it", async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const outer = addresses.find(({ family, internal }) => family === "IPv4" && !internal);
    if (outer === undefined) return;
    const url = `http://${outer.address}:${port}`;
    const env = { PAYRUN_TOKEN: "secret-token", PAYRUN_GATEWAY_URL: url };
    expect((await payrun(folderWith({}), ["holds"], env)).code).toBe(2);
    expect(shown).toEqual([]);
    const allowed = { ...env, PAYRUN_ALLOW_PLAINTEXT: "gateway" };
    await payrun(folderWith({}), ["holds"], allowed);
    expect(shown.splice(0)).toEqual(["Bearer secret-token"]);
  });

  test("a token from the environment is sent to no address that a folder's .env or home names", async () => {
    const there = `http://127.0.0.1:${port}`;
    const running = { pid: process.pid, gatewayUrl: ELSEWHERE, temporal: "x", startedAt: "now" };
    const folder = folderWith({
      ".env": `PAYRUN_GATEWAY_URL=${there}\nPAYRUN_HOME=./evil\n`,
      ".payrun/running.json": JSON.stringify(running),
    });
    const env = { PAYRUN_TOKEN: "secret-token", PAYRUN_GATEWAY_PORT: "1" };
    const { code, text } = await payrun(folder, ["holds"], env);
    expect(code).not.toBe(0);
    expect(text).toContain(
      "sets PAYRUN_GATEWAY_URL and PAYRUN_HOME, which are ignored: a token comes from the environment",
    );
    expect(text).not.toContain(there);
    expect(shown).toEqual([]);
  });
});

test("if only an .env names the profiles beside a token from the environment, commands exit with 2", async () => {
  const folder = folderWith({ ".env": "PAYRUN_PROFILES=profiles.yaml\n", "profiles.yaml": "" });
  const env = { PAYRUN_TOKEN: "secret-token", PAYRUN_GATEWAY_PORT: String(port) };
  for (const args of [["doctor"], ["up"], ["worker"], ["gateway"]]) {
    const { code, text } = await payrun(folder, args, env);
    expect([args, code]).toEqual([args, 2]);
    expect(text).toMatch(/stands in \.env alone.*: export PAYRUN_PROFILES=FILE/);
  }
  // Tokens are then created by the gateway, which knows the businesses; none is made here.
  await payrun(folder, ["token", "create", "cora", "--role", "controller"], env);
  expect(shown.splice(0)).toEqual(["Bearer secret-token"]);
  await payrun(folder, ["holds"], env);
  expect(shown.splice(0)).toEqual(["Bearer secret-token"]);
});

describe("an .env file", () => {
  const file = (text: string): string => join(folderWith({ ".env": text }), ".env");

  test("an .env file sets only Payrun's settings, and ignored variables are named without their values", () => {
    const text =
      "NODE_TLS_REJECT_UNAUTHORIZED=0\nNODE_OPTIONS=--import=evil\nPATH=/evil\nHTTPS_PROXY=evil\n";
    const { variables, ignored } = environmentWithFile({}, file(`${text}PAYRUN_DATABASE_POOL=3\n`));
    expect(variables).toEqual({ PAYRUN_DATABASE_POOL: "3" });
    expect(ignored).toEqual([
      expect.stringMatching(/HTTPS_PROXY, NODE_OPTIONS, NODE_TLS_REJECT_UNAUTHORIZED and PATH/),
    ]);
    expect(ignored.join()).not.toMatch(/evil/);
  });

  test.each(["PAYRUN_TOKEN", "PAYMENTS_API_TOKEN", "TEMPORAL_API_KEY"])(
    "an .env file sets no address, profile, signer or program while %s comes from the environment",
    (token) => {
      const leads = [
        ...["PAYRUN_HOME", "PAYRUN_DATABASE_URL", "PAYRUN_GATEWAY_URL", "PAYRUN_PROFILES"],
        ...["PAYRUN_ALLOW_PLAINTEXT", "PAYMENTS_API_URL", "PAYMENTS_NOTIFY_WEBHOOK"],
        ...["TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE", "TEMPORAL_CLI"],
        ...["TEMPORAL_TLS_SERVER_NAME", "PAYMENTS_SIGNERS", "PAYMENTS_API_SANDBOX"],
      ];
      const text = `${leads.map((name) => `${name}=evil`).join("\n")}\nPAYMENTS_BUSINESS_ID=biz\n`;
      const { variables, ignored } = environmentWithFile({ [token]: "t" }, file(text));
      expect(variables).toEqual({ [token]: "t", PAYMENTS_BUSINESS_ID: "biz" });
      // One warning for all of them, because they have one reason.
      expect(ignored).toHaveLength(1);
      for (const name of leads) expect(ignored[0]).toContain(name);
      const without = environmentWithFile({}, file(text));
      expect(Object.keys(without.variables).toSorted()).toEqual(
        [...leads, "PAYMENTS_BUSINESS_ID"].toSorted(),
      );
    },
  );

  test("an .env file never overrides the environment", () => {
    const { variables } = environmentWithFile({ PAYRUN_HOME: "/mine" }, file("PAYRUN_HOME=/evil"));
    expect(variables).toEqual({ PAYRUN_HOME: "/mine" });
  });
});

describe("PostgreSQL and Temporal on another machine", () => {
  const problems = (env: Readonly<Record<string, string>>): readonly string[] => {
    try {
      loadConfig(env);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
  };
  const DATABASE = "postgres://payrun:secret@db.example.com/payrun";

  test.each([
    ["PAYRUN_DATABASE_URL", DATABASE, "postgres"],
    ["PAYRUN_DATABASE_URL", "postgres://payrun@localhost/payrun?host=db.example.com", "postgres"],
    ["TEMPORAL_ADDRESS", "temporal.example.com:7233", "temporal"],
  ])(
    "PostgreSQL and Temporal elsewhere are refused without TLS unless allowed by name: %s=%s",
    (name, value, part) => {
      const with_ = (allowed: string) =>
        problems({ [name]: value, PAYRUN_ALLOW_PLAINTEXT: allowed });
      const others = ["gateway", "temporal", "postgres"].filter((each) => each !== part).join(", ");
      for (const [problem = ""] of [problems({ [name]: value }), with_(others)]) {
        expect(problem).toContain(name);
        expect(problem).toContain(`PAYRUN_ALLOW_PLAINTEXT=${part}`);
        expect(problem).not.toContain("secret");
      }
      expect(with_(part)).toEqual([]);
      expect(with_("gateway, postgres,temporal")).toEqual([]);
    },
  );

  test.each(["true", "all", "postgresql", "postgres,false"])(
    "plaintext is allowed only by a part's name, not by: %s",
    (value) => {
      expect(problems({ PAYRUN_ALLOW_PLAINTEXT: value })).toEqual([
        expect.stringMatching(/PAYRUN_ALLOW_PLAINTEXT.*gateway, temporal, postgres/),
      ]);
    },
  );

  test("a store on another machine is not copied without TLS", async () => {
    for (const [from, to] of [
      [DATABASE, "sqlite:new.db"],
      ["sqlite:old.db", DATABASE],
    ] as const) {
      const args = ["store", "copy", "--from", from, "--to", to];
      const { code, text } = await payrun(folderWith({}), args, {});
      expect(code).toBe(2);
      expect(text).toMatch(/names another machine, without TLS/);
      expect(text).not.toContain("secret");
    }
  });

  test.each([
    { PAYRUN_DATABASE_URL: `${DATABASE}?sslmode=verify-full` },
    { PAYRUN_DATABASE_URL: "postgres://payrun@127.0.0.1/payrun" },
    { PAYRUN_DATABASE_URL: "postgres:///payrun?host=/var/run/postgresql" },
    { TEMPORAL_ADDRESS: "temporal.example.com:7233", TEMPORAL_TLS: "true" },
    { TEMPORAL_ADDRESS: "temporal.example.com:7233", TEMPORAL_API_KEY: "k" },
    { TEMPORAL_ADDRESS: "[::1]:7233" },
  ])("PostgreSQL and Temporal are accepted with TLS, and on this machine without it: %o", (env) => {
    expect(problems(env as Record<string, string>)).toEqual([]);
  });
});

test.each([
  ["postgres://payrun:s3cret@db/payrun", "postgres://payrun:••••••@db/payrun"],
  ["postgres://db/payrun?user=a&password=s3cret", "postgres://db/payrun?user=a&password=••••••"],
  ["postgres://:s3cret@db/payrun?sslkey=s3cret#x", "postgres://:••••••@db/payrun?sslkey=••••••#x"],
  ["smtps://u:s3c@ret@mail", "smtps://u:••••••@mail"],
  [
    "https://hooks/x?token=s3cret&access_token=s3cret",
    "https://hooks/x?token=••••••&access_token=••••••",
  ],
  ["https://example.com/?page=2", "https://example.com/?page=2"],
])("a secret is masked in any part of an address: %s", (address, safe) => {
  expect(masked(address)).toBe(safe);
});
