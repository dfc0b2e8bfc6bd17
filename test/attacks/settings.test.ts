import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimHome, ConfigError, loadConfig, trustFile } from "../../src/config.ts";
import { environmentWithFile } from "../../src/config/env-file.ts";
import { masked } from "../../src/config/masked.ts";
import { Profiles } from "../../src/config/profiles.ts";
import { SETTING_NAMES } from "../../src/config/settings.ts";
import { payrun as runCli } from "../cli/cli.ts";

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
  readonly code: number | null;
  readonly text: string;
}

/** Runs a command in a folder, like a person who has cloned it from anywhere. */
async function payrun(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const where = { cwd: folder, env: { PAYRUN_HOME: undefined, ...env } };
  const { code, stdout, stderr } = await runCli(args, where);
  return { code, text: stdout + stderr };
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

  test.each([[], ["--as", "approver"]])(
    "a token kept in a home is sent to no other gateway than its own: %j",
    async (...as) => {
      const there = `http://127.0.0.1:${port}`;
      const home = folderWith({
        "admin.token": "secret-admin",
        "people/approver.token": "secret-approver",
      });
      const env = { PAYRUN_HOME: home, PAYRUN_GATEWAY_URL: there };
      for (const bound of [undefined, "http://127.0.0.1:9", ELSEWHERE]) {
        if (bound !== undefined) writeFileSync(join(home, "gateway.url"), bound);
        const { code, text } = await payrun(folderWith({}), ["holds", ...as], env);
        expect(code).toBe(2);
        expect(text).toContain("nothing was sent");
        expect(shown).toEqual([]);
      }
      writeFileSync(join(home, "gateway.url"), there);
      await payrun(folderWith({}), ["holds", ...as], env);
      expect(shown.splice(0)).toEqual([`Bearer secret-${as.length === 0 ? "admin" : "approver"}`]);
    },
  );

  test("a token from the environment is sent to no address that a folder's .env or home names", async () => {
    const there = `http://127.0.0.1:${port}`;
    const running = { pid: process.pid, gatewayUrl: ELSEWHERE, temporal: "x", startedAt: "now" };
    const folder = folderWith({
      ".env": `PAYRUN_GATEWAY_URL=${there}\nPAYRUN_HOME=./evil\n`,
      ".payrun/running.json": JSON.stringify(running),
    });
    const env = { PAYRUN_TOKEN: "secret-token", PAYRUN_GATEWAY_PORT: "1" };
    claimHome(join(folder, ".payrun"));
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
  const trusted = (text: string): string => {
    const path = join(folderWith({ ".env": text }), ".env");
    trustFile(path, text);
    return path;
  };

  test("an .env file sets only Payrun's settings, and ignored variables are named without their values", () => {
    const text =
      "NODE_TLS_REJECT_UNAUTHORIZED=0\nNODE_OPTIONS=--import=evil\nPATH=/evil\nHTTPS_PROXY=evil\n";
    const { variables, ignored } = environmentWithFile(
      {},
      trusted(`${text}PAYRUN_DATABASE_POOL=3\n`),
    );
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
      const { variables, ignored } = environmentWithFile({ [token]: "t" }, trusted(text));
      expect(variables).toEqual({ [token]: "t", PAYMENTS_BUSINESS_ID: "biz" });
      // One warning for all of them, because they have one reason.
      expect(ignored).toHaveLength(1);
      for (const name of leads) expect(ignored[0]).toContain(name);
      const without = environmentWithFile({}, trusted(text));
      expect(Object.keys(without.variables)).toEqual(
        expect.arrayContaining([...leads, "PAYMENTS_BUSINESS_ID"]),
      );
    },
  );

  test("an .env file never overrides the environment", () => {
    const { variables } = environmentWithFile(
      { PAYRUN_HOME: "/mine" },
      trusted("PAYRUN_HOME=/evil"),
    );
    expect(variables).toEqual({ PAYRUN_HOME: "/mine" });
  });
});

describe("a folder that someone else has prepared", () => {
  /** Redirects every request and brings the token for it. */
  const redirecting = () =>
    `PAYRUN_GATEWAY_URL=http://127.0.0.1:${port}\nPAYRUN_TOKEN=secret-own\n`;

  test.each([...SETTING_NAMES, "TEMPORAL_ADDRESS", "TEMPORAL_CONFIG_FILE", "TEMPORAL_TLS"])(
    "an .env file doesn't set %s until it is trusted",
    (name) => {
      const path = join(folderWith({ ".env": `${name}=evil\n` }), ".env");
      const refused = () => environmentWithFile({}, path);
      expect(refused).toThrow(new RegExp(`isn't trusted.*payrun trust.* sets ${name}:`));
      expect(refused).not.toThrow(/evil/);
      expect(environmentWithFile({ [name]: "mine" }, path).variables).toEqual({ [name]: "mine" });
      trustFile(path, `${name}=evil\n`);
      expect(environmentWithFile({}, path).variables[name]).toBe("evil");
    },
  );

  test("an .env file is trusted in its folder and as it was, under every name of the folder", async () => {
    const folder = folderWith({ ".env": redirecting() });
    const isUsed = async (where: string): Promise<boolean> => {
      const { code, text } = await payrun(where, ["holds"], {});
      // What answers here is no gateway.
      const used = shown.splice(0).length > 0;
      expect([used, code, text.includes("payrun trust")]).toEqual([used, used ? 4 : 2, !used]);
      expect(text).not.toContain("secret-own");
      return used;
    };
    expect(await isUsed(folder)).toBe(false);
    const { code, text } = await payrun(folder, ["trust", "--yes"], {});
    expect([code, text]).toEqual([0, expect.stringMatching(/PAYRUN_GATEWAY_URL=http:.*TOKEN=••/s)]);
    expect(await isUsed(folder)).toBe(true);

    const links = folderWith({});
    symlinkSync(folder, join(links, "same"));
    expect(await isUsed(join(links, "same"))).toBe(true);
    // What a file says is relative to its folder: a link to the file is another file.
    symlinkSync(join(folder, ".env"), join(links, ".env"));
    expect(await isUsed(links)).toBe(false);
    cpSync(join(folder, ".env"), join(folder, "below/.env"));
    expect(await isUsed(join(folder, "below"))).toBe(false);

    writeFileSync(join(folder, ".env"), `${redirecting()}PAYRUN_DATABASE_POOL=3\n`);
    expect(await isUsed(folder)).toBe(false);
    writeFileSync(join(folder, ".env"), redirecting());
    expect(await isUsed(folder)).toBe(true);
    await payrun(folder, ["trust", "--remove"], {});
    expect(await isUsed(folder)).toBe(false);
  });

  test("no program of a folder runs before the folder is trusted, nor one that is named afterwards", async () => {
    const profile = (url: string) =>
      `businesses: { acme: { apiUrl: "http://127.0.0.1:${port}", businessId: b, tokenCommand: "touch ${url}; echo t" } }`;
    const folder = folderWith({
      ".env": "PAYRUN_PROFILES=p.yaml\nTEMPORAL_CLI=./temporal\nPAYRUN_GATEWAY_PORT=1\n",
      "p.yaml": profile("ran"),
    });
    const ran = () => readdirSync(folder).filter((name) => name.startsWith("ran"));
    for (const args of [["doctor"], ["up"], ["worker"]]) {
      expect([args, (await payrun(folder, args, {})).code]).toEqual([args, 2]);
    }
    expect(ran()).toEqual([]);
    const { text } = await payrun(folder, ["trust", "--yes"], {});
    expect(text).toMatch(/TEMPORAL_CLI=\.\/temporal[\s\S]*acme\.tokenCommand: touch ran; echo t$/m);
    expect(ran()).toEqual([]);
    await payrun(folder, ["doctor"], {});
    expect(ran()).toEqual(["ran"]);
    writeFileSync(join(folder, "p.yaml"), profile("ran-again"));
    const changed = await payrun(folder, ["doctor"], {});
    expect([changed.code, changed.text]).toEqual([
      2,
      expect.stringMatching(/p\.yaml has changed since you trusted it.*payrun trust/),
    ]);
    expect(ran()).toEqual(["ran"]);
    expect(new Set(shown.splice(0))).toEqual(new Set(["Bearer t"]));
  });

  test("a file of Temporal's profiles that an .env names sets addresses only as it was trusted", async () => {
    const profiles = (name: string) =>
      `[profile.default]\naddress = "127.0.0.1:1"\nnamespace = "${name}"\n`;
    const folder = folderWith({
      ".env": "TEMPORAL_CONFIG_FILE=t.toml\n",
      "t.toml": profiles("a"),
    });
    await payrun(folder, ["trust", "--yes"], {});
    expect((await payrun(folder, ["doctor"], {})).text).toContain("127.0.0.1:1");
    writeFileSync(join(folder, "t.toml"), profiles("b"));
    const { code, text } = await payrun(folder, ["doctor"], {});
    expect([code, text]).toEqual([2, expect.stringMatching(/t\.toml has changed since you trust/)]);
  });

  test("a running process takes over changed profiles, and files that they name, once they are trusted", () => {
    const profile = (id: string) =>
      `businesses: { acme: { apiUrl: "\${file:url}", businessId: ${id}, token: "\${file:token}" } }`;
    const folder = folderWith({
      "p.yaml": profile("one"),
      url: "https://first.example",
      token: "t",
    });
    const [path, url] = [join(folder, "p.yaml"), join(folder, "url")];
    const read = () => new Profiles({ path, env: {}, isChecked: true });
    expect(read).toThrow(/p\.yaml isn't trusted yet/);
    trustFile(path, profile("one"));
    expect(read).toThrow(/url isn't trusted yet/);
    trustFile(url, "https://first.example");
    const profiles = read();
    const now = () =>
      profiles.all().map(({ apiUrl, businessId }) => [apiUrl, businessId].join(" "));
    // A token is renewed without being trusted again.
    writeFileSync(join(folder, "token"), "another\n");
    expect([now(), profiles.problems()]).toEqual([["https://first.example one"], []]);

    writeFileSync(url, "https://evil.example");
    writeFileSync(path, profile("another"));
    expect(now()).toEqual(["https://first.example one"]);
    expect(profiles.problems().join()).toMatch(/p\.yaml has changed.*url has changed/);
    trustFile(path, profile("another"));
    trustFile(url, "https://evil.example");
    expect([now(), profiles.problems()]).toEqual([["https://evil.example another"], []]);
  });

  test("nothing in a home that someone else has prepared is used, by no command", async () => {
    const there = `http://127.0.0.1:${port}`;
    const running = { pid: process.pid, temporal: "x", sandboxUrl: there, startedAt: "now" };
    const folder = folderWith({
      ".payrun/admin.token": "secret-known",
      ".payrun/gateway.url": there,
      ".payrun/running.json": JSON.stringify({ ...running, gatewayUrl: there }),
      ".payrun/sandbox-profiles.yaml": `businesses: { sandbox: { apiUrl: "${there}", businessId: b, tokenCommand: "touch ran; echo t", sandbox: true } }`,
      ".payrun/demo/state.json": "{}",
    });
    const commands = ["holds", "doctor", "up", "demo", "worker", "gateway", "sandbox"];
    for (const args of [...commands.map((each) => [each]), ["sandbox", "clock"]]) {
      const { code, text } = await payrun(folder, args, {});
      expect([args, code, text]).toEqual([args, 2, expect.stringMatching(/payrun trust/)]);
    }
    // Not even with the user's own token.
    await payrun(folder, ["holds"], { PAYRUN_TOKEN: "secret-mine" });
    expect([shown.splice(0), existsSync(join(folder, "ran"))]).toEqual([[], false]);
    const { text } = await payrun(folder, ["trust", "--yes"], {});
    expect(text).toMatch(
      /: touch ran; echo t\n[\s\S]*tokens of local-admin, for the gateway at http:/,
    );
    expect(text).not.toContain("secret-known");
    await payrun(folder, ["holds"], {});
    expect(shown.splice(0)).toEqual(["Bearer secret-known"]);
  });

  test("a copied home sends no kept token until it is trusted, even if the environment names it", async () => {
    const folder = folderWith({});
    // It makes the home, and needs no trust.
    expect((await payrun(folder, ["token", "bootstrap", "ADA", "BEA"], {})).code).toBe(0);
    const home = join(folder, ".payrun");
    writeFileSync(join(home, "admin.token"), "secret-admin");
    writeFileSync(join(home, "gateway.url"), `http://127.0.0.1:${port}`);
    await payrun(folder, ["holds"], {});
    expect(shown.splice(0)).toEqual(["Bearer secret-admin"]);

    const copy = folderWith({});
    cpSync(home, join(copy, ".payrun"), { recursive: true });
    const named = { PAYRUN_HOME: join(copy, ".payrun") };
    for (const [where, env] of [
      [copy, {}],
      [folderWith({}), named],
    ] as const) {
      const { code, text } = await payrun(where, ["holds"], env);
      expect([code, text]).toEqual([2, expect.stringMatching(/it is a copy.*nothing was sent/)]);
    }
    expect((await payrun(copy, ["up"], named)).code).toBe(2);
    expect(shown).toEqual([]);
    await payrun(copy, ["trust", "--yes"], {});
    for (const where of [copy, folder]) await payrun(where, ["holds"], {});
    await payrun(folderWith({}), ["holds"], named);
    expect(shown.splice(0)).toEqual(Array(3).fill("Bearer secret-admin"));
  });

  test("what is trusted is kept where only the user can read it", () => {
    trustFile(join(folderWith({ ".env": "" }), ".env"), "");
    const kept = join(process.env["XDG_CONFIG_HOME"] ?? "", "payrun/trusted");
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(kept)) expect(statSync(join(kept, name)).mode & 0o077).toBe(0);
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
