import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigError, loadConfig } from "../../src/config.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "payrun-sign-in-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function load(lines: readonly string[]) {
  const file = join(folder, "profiles.yaml");
  const head = ["businesses:", "  acme:", "    apiUrl: https://pay.example.com"];
  const own = ["    businessId: biz_acme", "    token: abc", ...lines.map((line) => `    ${line}`)];
  writeFileSync(file, [...head, ...own, ""].join("\n"));
  return loadConfig({ PAYRUN_PROFILES: file }).profiles.get("acme");
}

function problemOf(lines: readonly string[]): string {
  try {
    load(lines);
    return "";
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
}

test("a profile sets its provider, people's own addresses, and the amount that needs a recent sign-in", () => {
  expect(
    load([
      'signIn: { provider: { issuer: "https://id.acme.example/", clientId: payrun, clientSecret: s }, freshOver: "$50k" }',
      'notify: { smtp: { url: "smtps://mail.example", from: pay@acme.example }, people: { Cora Diaz: cora@acme.example } }',
    ]),
  ).toMatchObject({
    signIn: {
      provider: { issuer: "https://id.acme.example/", clientId: "payrun", clientSecret: "s" },
      freshOverCents: 5_000_000,
    },
    notify: { people: { "Cora Diaz": "cora@acme.example" } },
  });
});

test.each([
  ["$1,234.56", 123_456],
  ["$75,000", 7_500_000],
  ["$10000", 1_000_000],
  ["$1.5M", 150_000_000],
])("the amount %s is read as cents", (text, cents) => {
  expect(load([`signIn: { freshOver: "${text}" }`])?.signIn?.freshOverCents).toBe(cents);
});

test.each(["50000", "$", "$1.555k", "$20000M", "€50", "$1,23"])(
  "the amount %s is refused",
  (text) => {
    expect(problemOf([`signIn: { freshOver: "${text}" }`])).toContain("an amount in US dollars");
  },
);

test.each([
  ["http://id.acme.example", "http:// only for this machine"],
  ["https://id.acme.example/?a=b", "must be the issuer's https:// address"],
  ["id.acme.example", "must be the issuer's https:// address"],
])("a provider at %s is refused", (issuer, why) => {
  const provider = `{ issuer: "${issuer}", clientId: payrun, clientSecret: s }`;
  expect(problemOf([`signIn: { provider: ${provider} }`])).toContain(why);
});

test("people's own addresses are refused without an SMTP server", () => {
  expect(problemOf(["notify: { people: { Cora: cora@acme.example } }"])).toContain("notify.smtp");
});
