import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atTerminal, hasTerminals } from "./at-terminal.ts";
import { payrun, temporaryFolder } from "./cli.ts";

/** Makes a folder with these files. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function isTrusted(cwd: string): Promise<boolean> {
  const { stderr } = await payrun(["holds"], { cwd });
  return !/isn't trusted yet|has changed since/.test(stderr);
}

test.runIf(hasTerminals)(
  "at a terminal trust shows what it would let count, without secrets, and asks first",
  async () => {
    const cwd = folderWith({ ".env": "PAYRUN_GATEWAY_PORT=1\nPAYRUN_ENCRYPTION_KEYS=a-secret\n" });
    const question = "Trust this, until it changes?";
    const said = await atTerminal(["trust"], [[question, "\r"]], { cwd });
    expect(said).toMatch(/PAYRUN_GATEWAY_PORT=1[\s\S]*Nothing was trusted/);
    expect(said).not.toContain("a-secret");
    expect(await isTrusted(cwd)).toBe(false);
    await atTerminal(["trust"], [[question, "y"]], { cwd });
    expect(await isTrusted(cwd)).toBe(true);
  },
);

test.each([["trust"], ["trust", "--json"]])(
  "without a terminal nothing is trusted unless --yes is there: %j %j",
  async (...args) => {
    const cwd = folderWith({ ".env": "PAYRUN_GATEWAY_PORT=1\n" });
    const { code, stdout, stderr } = await payrun(args, { cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("no terminal to ask on: add --yes"),
    ]);
    if (args.length === 1) expect(stdout).toContain("PAYRUN_GATEWAY_PORT=1");
    expect(await isTrusted(cwd)).toBe(false);
    expect((await payrun([...args, "--yes"], { cwd })).code).toBe(0);
    expect(await isTrusted(cwd)).toBe(true);
    // There is nothing left to ask.
    expect((await payrun(["trust"], { cwd })).code).toBe(0);
  },
);

const profile = (...lines: readonly string[]): string =>
  [
    "businesses:",
    "  acme:",
    "    businessId: biz_acme",
    ...lines.map((line) => `    ${line}`),
  ].join("\n");

test("trust shows all that a profile sets, whole commands and what references stand for, and masks secrets alone", async () => {
  const cwd = folderWith({
    ".env": [
      "PAYRUN_PROFILES=p.yaml",
      'PAYMENTS_API_TOKEN="touch pwned; echo x"',
      "PAYMENTS_NOTIFY_SLACK=https://hooks.example/s3cret",
      "TEMPORAL_CONFIG_FILE=t.toml\n",
    ].join("\n"),
    "p.yaml": profile(
      'apiUrl: "${file:url}"',
      'tokenCommand: "${env:PAYMENTS_API_TOKEN}"',
      "webhookSecrets: [s3cret, s3cret]",
      "approvals: single-person",
      "limits: { bill: $5k }",
      "identities: [{ issuer: https://id.example, subject: a1, name: Cora, roles: [owner] }]",
      "signIn: { provider: { issuer: https://id.example, clientId: us, clientSecret: s3cret } }",
      "notify:",
      "  smtp: { url: smtps://us:s3cret@mail.example:465, from: pay@acme.example }",
      "  people: { token: cora@acme.example }",
      "  channels:",
      "    slack: { slack: https://slack.example/s3cret }",
      `    hook: { webhook: https://hook.example/s3cret, secret: ${`whsec_${"A".repeat(32)}`} }`,
    ),
    url: "https://pay.example\n",
    "t.toml": '[profile.default]\naddress = "temporal.example:7233"\napi_key = "s3cret"\n',
  });
  const { code, stdout } = await payrun(["trust", "--yes"], { cwd });
  expect(code).toBe(0);
  const lines = stdout.split("\n").map((line) => line.trim());
  expect(lines).toEqual(
    expect.arrayContaining([
      "PAYMENTS_NOTIFY_SLACK=https://hooks.example/••••••",
      "acme.apiUrl: ${file:url} = https://pay.example",
      "acme.tokenCommand: ${env:PAYMENTS_API_TOKEN} = touch pwned; echo x",
      "acme.webhookSecrets.1: ••••••",
      "acme.approvals: single-person",
      "acme.limits.bill: $5k",
      "acme.identities.0.name: Cora",
      "acme.identities.0.roles.0: owner",
      "acme.signIn.provider.clientSecret: ••••••",
      "acme.notify.smtp.url: smtps://mail.example:465/••••••",
      "acme.notify.people.token: cora@acme.example",
      "acme.notify.channels.slack.slack: https://slack.example/••••••",
      "acme.notify.channels.hook.webhook: https://hook.example/••••••",
      "acme.notify.channels.hook.secret: ••••••",
      "default.address: temporal.example:7233",
      "default.api_key: ••••••",
    ]),
  );
  expect(stdout).not.toMatch(/s3cret|whsec_/);
});

test("a command or an address can't hide behind what looks like a password, or turns, ends or erases a line", async () => {
  const cwd = folderWith({
    ".env": "PAYRUN_PROFILES=p.yaml\nPAYMENTS_API_URL=https://evil.example:443\\@good.example\n",
    "p.yaml": profile(
      "apiUrl: https://pay.example",
      String.raw`tokenCommand: "touch pwned\n\r\e[2K\u202e//a:b@c"`,
    ),
  });
  const { stdout } = await payrun(["trust", "--yes"], { cwd });
  expect(stdout).toContain("  PAYMENTS_API_URL=https://evil.example:443\\@good.example\n");
  expect(stdout).toContain("  acme.tokenCommand: touch pwned···[2K·//a:b@c\n");
});

const URL_AND_COMMAND = ["apiUrl: https://pay.example", "tokenCommand: touch pwned"];

test.each([
  ["a misspelled key", profile(...URL_AND_COMMAND, "tokenComand: x"), "did you mean tokenCommand?"],
  [
    "a misspelled key beside a missing variable",
    profile(
      ...URL_AND_COMMAND,
      'notify: { channels: { ops: { slack: "${env:NOPE}", runs: s3cret } } }',
    ),
    "unknown key runs",
  ],
  ["a wrong type", profile(...URL_AND_COMMAND, "fourEyes: [s3cret]"), "must be true or false"],
  ["no YAML", "businesses: {", "p.yaml:1:14:"],
  ["aliases", "businesses: { acme: &a {}, other: *a }", "aliases"],
])(
  "what can't be shown as a whole is not trusted, nor what is beside it, and trust says what to correct: %s",
  async (_, text, why) => {
    const cwd = folderWith({ ".env": "PAYRUN_PROFILES=p.yaml\n", "p.yaml": text });
    const { code, stdout, stderr } = await payrun(["trust", "--yes"], { cwd });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("nothing was trusted");
    expect(stderr).toContain(why);
    expect(stderr).not.toContain("s3cret");
    expect(await isTrusted(cwd)).toBe(false);
  },
);

test("a file of Temporal's profiles that can't be read is not trusted", async () => {
  const cwd = folderWith({
    ".env": "TEMPORAL_CONFIG_FILE=t.toml\n",
    "t.toml": "api_key = s3cret\n",
  });
  const { code, stderr } = await payrun(["trust", "--yes"], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining("t.toml: ")]);
  expect(stderr).not.toContain("s3cret");
});

test("a variable or a file that is missing keeps no profile from being shown and trusted", async () => {
  const cwd = folderWith({
    ".env": "PAYRUN_PROFILES=p.yaml\n",
    "p.yaml": profile(
      "apiUrl: http://pay.example",
      "sandbox: ${env:NOPE}",
      "token: ${file:not-there}",
      'webhookSecrets: ["${env:NOPE}"]',
    ),
  });
  const { code, stdout } = await payrun(["trust", "--yes"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain("acme.token: ${file:not-there}\n");
  expect(stdout).toContain("acme.webhookSecrets.0: ${env:NOPE}\n");
  expect(await isTrusted(cwd)).toBe(true);
});

test("mistakes in the profiles of a home are said to be in that file, not in the environment", async () => {
  const cwd = folderWith({ "sandbox-profiles.yaml": profile("apiURL: https://pay.example") });
  const { code, stderr } = await payrun(["holds"], { cwd, env: { PAYRUN_HOME: cwd } });
  expect(code).toBe(2);
  expect(stderr).toMatch(/They come from .*sandbox-profiles\.yaml\.$/m);
  expect(stderr).not.toContain("environment");
});
