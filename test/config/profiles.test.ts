import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { Config } from "../../src/config.ts";
import { ConfigError, loadConfig } from "../../src/config.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "payrun-profiles-"));
  file = join(folder, "profiles.yaml");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function load(yaml: string, env: Record<string, string> = {}): Config {
  writeFileSync(file, yaml);
  return loadConfig({ PAYRUN_PROFILES: file, ...env });
}

function problemsOf(yaml: string, env: Record<string, string> = {}): string[] {
  try {
    load(yaml, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((line) => line.replace(file, "F"));
    throw error;
  }
  return [];
}

const ACME = `businesses:
  acme:
    apiUrl: https://pay.example.com
    businessId: biz_acme
    token: abc
`;

test("a file describes several businesses, each with everything that paying for it needs", () => {
  const { profiles } = load(`businesses:
  acme:
    apiUrl: https://pay.example.com/
    businessId: biz_acme
    token: abc
    webhookSecrets: [whsec_new, whsec_old]
    achAuthorization: { acceptedBy: Dana Reyes, acceptedAt: 2026-01-31T15:00:00Z }
  lab:
    apiUrl: http://sandbox.internal:8089
    businessId: biz_lab
    tokenCommand: vault read -field=token secret/pay
    sandbox: true
`);
  expect(profiles.all()).toEqual([
    {
      name: "acme",
      apiUrl: "https://pay.example.com",
      businessId: "biz_acme",
      token: { kind: "value", value: "abc" },
      webhookSecrets: ["whsec_new", "whsec_old"],
      achAuthorization: { acceptedBy: "Dana Reyes", acceptedAt: "2026-01-31T15:00:00Z" },
      sandbox: false,
    },
    {
      name: "lab",
      apiUrl: "http://sandbox.internal:8089",
      businessId: "biz_lab",
      token: { kind: "command", command: "vault read -field=token secret/pay" },
      webhookSecrets: [],
      sandbox: true,
    },
  ]);
});

test("values can come from the environment and from files, whose paths are relative to the profiles file", () => {
  writeFileSync(join(folder, "token"), "from-file\n");
  writeFileSync(join(folder, "secret"), "whsec_file\n");
  const yaml = `businesses:
  acme:
    apiUrl: \${env:ACME_URL}
    businessId: \${env:ACME_ID}
    token: \${file:token}
    webhookSecrets: ["\${file:secret}", "\${env:OTHER_SECRET}"]
    sandbox: \${env:ACME_SANDBOX}
`;
  const { profiles } = load(yaml, {
    ACME_URL: "https://pay.example.com",
    ACME_ID: "biz_acme",
    ACME_SANDBOX: "true",
    OTHER_SECRET: "whsec_env",
  });
  expect(profiles.get("acme")).toEqual({
    name: "acme",
    apiUrl: "https://pay.example.com",
    businessId: "biz_acme",
    token: { kind: "file", path: join(folder, "token") },
    webhookSecrets: ["whsec_file", "whsec_env"],
    sandbox: true,
  });
});

test("a change of the file takes effect at the next read", () => {
  const { profiles } = load(ACME);
  writeFileSync(
    file,
    `${ACME}  second:\n    apiUrl: https://x.example\n    businessId: b2\n    token: t\n`,
  );
  expect(profiles.all().map(({ name }) => name)).toEqual(["acme", "second"]);
  expect(profiles.byBusinessId("b2")?.name).toBe("second");
});

test("a change of a file that the profiles refer to takes effect too", () => {
  const secret = join(folder, "secret");
  writeFileSync(secret, "whsec_1");
  const { profiles } = load(`${ACME}    webhookSecrets: "\${file:secret}"\n`);
  expect(profiles.get("acme")?.webhookSecrets).toEqual(["whsec_1"]);
  writeFileSync(secret, "whsec_2, whsec_1");
  expect(profiles.get("acme")?.webhookSecrets).toEqual(["whsec_2", "whsec_1"]);
});

test("a change that can't be used leaves the businesses as they were, and is reported", () => {
  const { profiles } = load(ACME);
  writeFileSync(file, "businesses: {");
  expect(profiles.get("acme")?.businessId).toBe("biz_acme");
  expect(profiles.problems()[0]).toContain(`${file}:1:`);
  writeFileSync(file, ACME.replace("biz_acme", "biz_new"));
  expect(profiles.get("acme")?.businessId).toBe("biz_new");
  expect(profiles.problems()).toEqual([]);
});

test("the deletion of the file leaves the businesses as they were, and is reported", () => {
  const { profiles } = load(ACME);
  rmSync(file);
  expect(profiles.get("acme")?.businessId).toBe("biz_acme");
  expect(profiles.problems()[0]).toMatch(/can't be read \(ENOENT\)/);
});

test("two profiles of one business are refused, since each would pay its bills", () => {
  const yaml = `${ACME}  twin:\n    apiUrl: https://x.example\n    businessId: biz_acme\n    token: t\n`;
  expect(problemsOf(yaml)).toEqual(["F:8:17: twin: businessId biz_acme is already acme's"]);
});

test("every mistake is reported at once, with its line and column", () => {
  const problems = problemsOf(`businesses:
  acme:
    apiUrl: pay.example.com
    businessId: 12
    tokn: abc
  "bad name":
    apiUrl: https://x.example
    businessId: b
    token: t
  empty:
extra: 1
`);
  expect(problems).toEqual([
    "F:2:3: acme: token or tokenCommand is missing",
    expect.stringMatching(/^F:3:13: acme: apiUrl must be an http/),
    expect.stringMatching(/^F:4:17: acme: businessId must be text \(put it in quotes\)/),
    "F:5:11: acme: unknown key tokn: did you mean token?",
    expect.stringMatching(/^F:6:3: bad name: a business's name is/),
    expect.stringMatching(/^F:10:9: empty: expected apiUrl/),
    "F:11:8: unknown key extra: only businesses here",
  ]);
});

test("a missing field is reported at the profile that lacks it", () => {
  const problems = problemsOf("businesses:\n  acme:\n    businessId: b\n    token: t\n");
  expect(problems).toEqual(["F:2:3: acme: apiUrl is missing"]);
});

test("a business needs exactly one token", () => {
  const [none] = problemsOf(ACME.replace("    token: abc\n", ""));
  expect(none).toBe("F:2:3: acme: token or tokenCommand is missing");
  const [both] = problemsOf(`${ACME}    tokenCommand: pass show pay\n`);
  expect(both).toMatch(/keep one/);
});

test("a reference that can't be resolved is reported by name, without anything that was read", () => {
  const yaml = `${ACME}    webhookSecrets: ["\${env:NOT_THERE}", "\${file:not-there}", "a\${env:X}"]\n`;
  const problems = problemsOf(yaml, { X: "hidden" });
  expect(problems).toHaveLength(3);
  expect(problems[0]).toMatch(/^F:6:22: acme\.webhookSecrets\.0: the environment has no NOT_THERE/);
  expect(problems[1]).toMatch(/not-there can't be read \(ENOENT\)/);
  expect(problems[2]).toMatch(/a reference is the whole value/);
  expect(problems.join()).not.toContain("hidden");
});

test("aliases are refused, because a few of them can stand for millions of entries", () => {
  const yaml = `businesses:\n  acme: &a\n    apiUrl: https://x.example\n  twin: *a\n`;
  expect(problemsOf(yaml)[0]).toMatch(/aliases/);
});

test("a missing profiles file is reported as a problem of the setting", () => {
  expect(() => loadConfig({ PAYRUN_PROFILES: join(folder, "none.yaml") })).toThrow(
    /PAYRUN_PROFILES: .*none\.yaml can't be read \(ENOENT\)/,
  );
});

test("the profile in the README can be used as it stands", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const shown = /```yaml\n(# PAYRUN_PROFILES=.*?)```/s.exec(readme)?.[1] ?? "";
  const { publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "erp.pub"), publicKey.export({ type: "spki", format: "pem" }));
  writeFileSync(join(folder, "payments-token"), "abc");
  const { profiles } = load(shown.replaceAll("/run/secrets/", ""), {
    ACME_WEBHOOK_SECRET: "whsec_1",
    SLACK_URL: "https://hooks.slack.example/services/T0/B0/xyz",
  });
  expect(profiles.get("acme")).toMatchObject({
    businessId: "biz_123",
    token: { kind: "file" },
    notify: { channels: [{ name: "finance", type: "slack" }] },
    signers: [{ keyId: "erp-2026", name: "erp", roles: ["controller"] }],
  });
});

test("a profile says who signs in, by issuer and subject but not e-mail address, and how many people decide", () => {
  const id = (subject: string) =>
    `      - { issuer: "https://id.acme.example", subject: "${subject}", name: Cora, roles: [owner] }\n`;
  const of = (...subjects: readonly string[]) =>
    `${ACME}    identities:\n${subjects.map(id).join("")}`;
  const { profiles } = load(`${of("00u1")}    fourEyes: true\n    approvals: single-person\n`);
  const cora = {
    issuer: "https://id.acme.example",
    subject: "00u1",
    name: "Cora",
    roles: ["owner"],
  };
  expect(profiles.get("acme")).toMatchObject({
    identities: [cora],
    fourEyes: true,
    singlePerson: true,
  });
  expect(problemsOf(of("cora@acme.example"))[0]).toContain("not an e-mail address");
  expect(problemsOf(of("00u1", "00u1"))[0]).toContain("the same person as entry 1");
  expect(problemsOf(of("00u1").replace("https:", "http:"))[0]).toContain("https://");
  expect(problemsOf(`${ACME}    approvals: nobody\n`)[0]).toContain("single-person");
});

test("a profile may set its people's time zone, and an unknown zone is refused", () => {
  const of = (zone: string) => `${ACME}    zone: ${zone}\n`;
  expect(load(of("America/Chicago")).profiles.get("acme")?.zone).toBe("America/Chicago");
  expect(load(ACME).profiles.get("acme")?.zone).toBeUndefined();
  expect(problemsOf(of("America/Chicgo"))[0]).toContain("must be a time zone such as");
});

test("a profile may set limits for its business, and one that lets nothing through is refused", () => {
  const of = (limits: string) => `${ACME}    limits: { ${limits} }\n`;
  expect(load(of("bill: $50k, vendorPerWeek: $75k")).profiles.get("acme")?.limits).toEqual({
    billCents: 5_000_000,
    vendorPerWeekCents: 7_500_000,
    businessPerWeekCents: null,
  });
  expect(problemsOf(of("bill: 50000"))[0]).toContain("must be an amount in US dollars");
  expect(problemsOf(of("bill: $0"))[0]).toContain("must be more than $0");
  expect(problemsOf(of("bil: $50k"))[0]).toContain("did you mean bill?");
});
