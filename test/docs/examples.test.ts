import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";
import { pages, pageText } from "../support/docs.ts";
import { startSandbox } from "../support/sandbox.ts";

const ACCOUNT = {
  accountNumber: "123456789",
  routingNumber: "021000021",
  accountType: "checking",
} as const;

interface Example {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const examples: readonly Example[] = pages().flatMap((page) =>
  [...pageText(page).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(
    ([, language = "", text = ""]) => ({ page, language, text }),
  ),
);

/** Pages whose other examples are run below. */
const SHOWN_HERE = ["docs/sandbox.md", "docs/payments-client.md"];

/** The tests that run or load a page's examples other than our commands and playbooks. */
const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  "docs/approvals.md js": "test/e2e/signed-decisions.test.ts",
  "docs/audit.md js": "test/support/check-trail.ts",
  "docs/integrating.md python": "test/cli/integrating-docs.test.ts",
  "docs/kyb-onboarding.md json": "test/e2e/kyb-docs.test.ts",
};

const isProfiles = ({ text }: Example): boolean => /^businesses:/m.test(text);
const isTests = ({ text }: Example): boolean => text.startsWith("tests:");

function named({ page, text }: Example): readonly [string, string] {
  return [`${page}: ${text.split("\n")[0] ?? ""}`, text];
}

const yaml = examples.filter(({ language }) => language === "yaml");
const playbooks = yaml.filter((each) => !isProfiles(each) && !isTests(each));

describe("playbooks on the pages", () => {
  test.each(playbooks.map(named))("the playbook in %s loads as it stands", (_, text) => {
    // A part belongs to a pay run, as its page says.
    const whole = /^kind: /m.test(text) ? text : `kind: pay-run\n${text}`;
    const loaded = loadPlaybook(whole, { file: "shown.yaml" });
    expect(loaded.ok ? "" : formatProblems(loaded.problems)).toBe("");
  });
});

describe("profiles on the pages", () => {
  test.each(yaml.filter(isProfiles).map(named))("the profile in %s can be used", (_, text) => {
    const folder = mkdtempSync(join(tmpdir(), "payrun-docs-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { publicKey } = generateKeyPairSync("ed25519");
    const key = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    writeFileSync(join(folder, "value"), key);
    const needed = "    apiUrl: https://payments.example.com\n    businessId: biz\n    token: t\n";
    const file = join(folder, "profiles.yaml");
    writeFileSync(
      file,
      (text.includes("apiUrl:") ? text : text.replace(/^ {2}acme:\n/m, `$&${needed}`))
        .replaceAll(/\$\{file:[^}]+\}/g, `\${file:${join(folder, "value")}}`)
        .replaceAll(/publicKey: \w+…/g, `publicKey: ${key}`),
    );
    const config = loadConfig({
      PAYRUN_PROFILES: file,
      ACME_TOKEN: "token",
      ACME_WEBHOOK_SECRET: "whsec_1",
      ACME_OIDC_SECRET: "a-secret-of-the-client",
      SMTP_URL: "smtps://payrun:secret@mail.acme.example",
      NOTICE_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
      SLACK_URL: "https://hooks.slack.example/services/T0/B0/xyz",
    });
    expect(config.profiles.all().map(({ name }) => name)).toEqual(["acme"]);
  });
});

test("the sandbox accepts the requests on its page", async () => {
  const sandbox = await startSandbox();
  try {
    const [faults = "", company = ""] = examples
      .filter(({ page, language }) => page === "docs/sandbox.md" && language === "json")
      .map(({ text }) => text);
    const send = async (path: string, body: string): Promise<Response> =>
      fetch(`${sandbox.url}/sandbox/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
    expect((await send("faults", faults)).status).toBe(200);
    // The number of bills on the page would take a while.
    expect(company).toContain("100000");
    const few = await send("reset", company.replace("100000", "50"));
    expect(few.status).toBe(200);
  } finally {
    await sandbox.stop();
  }
});

test("the code on the client's page pays a bill", async () => {
  const sandbox = await startSandbox();
  const folder = mkdtempSync(join(tmpdir(), "payrun-docs-"));
  try {
    const { token } = sandbox.business;
    const contact = { displayName: "Paper", bankAccount: ACCOUNT };
    const { body: payee } = await sandbox.api<{ id: string }>("POST", "/v1/contacts", {
      body: contact,
    });
    const { id } = await sandbox.control.createPayable({
      contactId: payee.id,
      totalAmountCents: 12_300,
      dueDate: "2030-01-01",
    });
    writeFileSync(join(folder, "token"), token);
    const shown = examples.find(
      ({ page, language }) => page === "docs/payments-client.md" && language === "js",
    );
    const client = new URL("../../src/payments-api/index.ts", import.meta.url).href;
    const code = (shown?.text ?? "")
      .replace("payrun/payments-api", client)
      .replace("https://payments.example.com", sandbox.url)
      .replace("/run/secrets/payments-token", join(folder, "token"));
    const given = `const payableId = ${JSON.stringify(id)};\nconst idempotencyKey = "docs-1";\n`;
    writeFileSync(join(folder, "pay.mjs"), given + code);
    const flags = ["--disable-warning=ExperimentalWarning", join(folder, "pay.mjs")];
    const { stderr } = await promisify(execFile)(process.execPath, flags);
    expect(stderr).toBe("");
    const path = `/v1/payments?payableId=${id}`;
    const { body } = await sandbox.api<{ items: { amountCents: number }[] }>("GET", path);
    expect(body.items).toMatchObject([{ amountCents: 12_300 }]);
  } finally {
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the mistake on the playbooks page is reported in the same words", () => {
  const [, shown = ""] =
    /```\n(weekly\.yaml:3:16[\s\S]*?)```/.exec(pageText("docs/playbooks.md")) ?? [];
  const text = 'kind: pay-run\nselect: { due: all }\nwhere: payable.amount > "3"\n';
  const loaded = loadPlaybook(text, { file: "weekly.yaml" });
  const told = loaded.ok ? "" : formatProblems(loaded.problems);
  for (const line of shown.trimEnd().split("\n")) {
    expect(told).toContain(line.replace(/, …$/, ""));
  }
});

test("every other example is run by the test listed for it", () => {
  const others = examples.filter(
    ({ page, language }) => !["yaml", "sh"].includes(language) && !SHOWN_HERE.includes(page),
  );
  const kinds = new Set(others.map(({ page, language }) => `${page} ${language}`));
  expect([...kinds].toSorted()).toEqual(Object.keys(SHOWN_ELSEWHERE).toSorted());
  for (const [kind, file] of Object.entries(SHOWN_ELSEWHERE)) {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    expect(source).toMatch(new RegExp(`(?:pageText|blocksOf)\\("${kind.split(" ")[0]}"`));
  }
});
