import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError, loadConfig } from "../../src/config.ts";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;

function load(notify: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "payrun-notify-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "profiles.yaml");
  writeFileSync(
    file,
    `businesses:
  acme:
    apiUrl: https://pay.example.com
    businessId: biz_acme
    token: abc
    notify:
${notify}
`,
  );
  try {
    const config = loadConfig({ PAYRUN_PROFILES: file, ...env });
    return { notify: config.profiles.get("acme")?.notify, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      notify: undefined,
      problems: error.problems.map((line) => line.replace(`${file}:`, "")),
    };
  }
}

test("a business names the channels for its notices, with secrets from the environment", () => {
  const { notify, problems } = load(
    `      smtp: { url: "\${env:SMTP_URL}", from: "Payrun <payrun@acme.example>" }
      channels:
        ops: { webhook: https://ops.acme.example/hooks?team=1, secret: "\${env:HOOK_SECRET}" }
        finance: { slack: "\${env:SLACK_URL}", roles: [controller], kinds: [approval-needed] }
        mail: { email: { controller: cora@acme.example, owner: [olga@acme.example] } }`,
    {
      SMTP_URL: "smtps://user:p%40ss@mail.acme.example",
      HOOK_SECRET: SECRET,
      SLACK_URL: "https://hooks.slack.example/services/T0/B0/xyz",
    },
  );
  expect(problems).toEqual([]);
  expect(notify).toEqual({
    smtp: {
      url: "smtps://user:p%40ss@mail.acme.example",
      from: "Payrun <payrun@acme.example>",
    },
    channels: [
      {
        name: "ops",
        type: "webhook",
        url: "https://ops.acme.example/hooks?team=1",
        secrets: [SECRET],
        roles: null,
        kinds: null,
      },
      {
        name: "finance",
        type: "slack",
        url: "https://hooks.slack.example/services/T0/B0/xyz",
        roles: ["controller"],
        kinds: ["approval-needed"],
      },
      {
        name: "mail",
        type: "email",
        addresses: { controller: ["cora@acme.example"], owner: ["olga@acme.example"] },
        roles: null,
        kinds: null,
      },
    ],
  });
});

test.each([
  ["ops: { webhook: http://ops.acme.example, secret: SECRET }", /webhook must be an https/],
  ["ops: { webhook: https://a:b@ops.acme.example, secret: SECRET }", /without a user/],
  ["ops: { webhook: https://ops.acme.example }", /secret is (needed|missing)/],
  ["ops: { webhook: https://ops.acme.example, secret: hunter2 }", /secret must be whsec_/],
  ["ops: { slack: https://x.example, secret: SECRET }", /secret goes with webhook only/],
  ["ops: { roles: [controller] }", /exactly one of webhook, slack, email/],
  ["ops: { slack: https://x.example, email: { owner: o@acme.example } }", /exactly one/],
  ["mail: { email: { owner: o@acme.example } }", /needs notify\.smtp/],
  ["mail: { email: { owner: olga } }", /must be an e-mail address/],
  ["vendors: { slack: https://x.example }", /remittance advice/],
  ["Ops: { slack: https://x.example }", /Ops/],
  ["ops: { slak: https://x.example }", /did you mean slack/],
  ["ops: { slack: https://x.example, kinds: [aproval-needed] }", /did you mean approval-needed/],
  ["ops: { slack: https://x.example, kinds: remittance }", /kinds of notices to your own people/],
])("the channel %s is refused with its place and what to write instead", (channel, problem) => {
  const { problems } = load(`      channels:\n        ${channel.replace("SECRET", SECRET)}`);
  expect(problems.join("\n")).toMatch(problem);
  expect(problems[0]).toMatch(/^\d+:\d+: acme/);
  expect(problems.join("\n")).not.toContain("hunter2");
});

test("an invalid SMTP URL is refused without repeating its password", () => {
  const { problems } = load(
    `      smtp: { url: "https://u:hunter2@mail.example", from: "no address" }`,
  );
  expect(problems.join("\n")).toMatch(/smtp\.url must be smtp:/);
  expect(problems.join("\n")).toMatch(/smtp\.from must be an e-mail address/);
  expect(problems.join("\n")).not.toContain("hunter2");
});

function loadEnvironment(env: Record<string, string>) {
  const own = {
    PAYMENTS_API_URL: "https://pay.example.com",
    PAYMENTS_BUSINESS_ID: "biz_acme",
    PAYMENTS_API_TOKEN: "abc",
  };
  try {
    const config = loadConfig({ ...own, ...env });
    return { config, notify: config.profiles.get("default")?.notify, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: undefined, notify: undefined, problems: error.problems };
  }
}

test("the business of the environment names its channels there, and they are listed without secrets", () => {
  const { config, notify, problems } = loadEnvironment({
    PAYMENTS_NOTIFY_WEBHOOK: "https://ops.acme.example/payrun",
    PAYMENTS_NOTIFY_WEBHOOK_SECRET: SECRET,
    PAYMENTS_NOTIFY_SLACK: "https://hooks.slack.example/services/T0/B0/xyz",
    PAYMENTS_NOTIFY_EMAIL:
      "controller:cora@acme.example, owner:olga@acme.example,owner:otto@acme.example",
    PAYMENTS_NOTIFY_SMTP_URL: "smtps://user:secret@mail.acme.example",
    PAYMENTS_NOTIFY_SMTP_FROM: "Payrun <payrun@acme.example>",
  });
  expect(problems).toEqual([]);
  expect(notify).toEqual({
    smtp: {
      url: "smtps://user:secret@mail.acme.example",
      from: "Payrun <payrun@acme.example>",
    },
    channels: [
      {
        name: "webhook",
        type: "webhook",
        url: "https://ops.acme.example/payrun",
        secrets: [SECRET],
        roles: null,
        kinds: null,
      },
      {
        name: "slack",
        type: "slack",
        url: "https://hooks.slack.example/services/T0/B0/xyz",
        roles: null,
        kinds: null,
      },
      {
        name: "email",
        type: "email",
        addresses: {
          controller: ["cora@acme.example"],
          owner: ["olga@acme.example", "otto@acme.example"],
        },
        roles: null,
        kinds: null,
      },
    ],
  });
  const listed = JSON.stringify(config?.settings);
  expect(listed).toContain("PAYMENTS_NOTIFY_EMAIL");
  for (const hidden of [SECRET, "user:secret", "services/T0"]) expect(listed).not.toContain(hidden);
  expect(loadEnvironment({}).notify).toBeUndefined();
});

test.each([
  [{ PAYMENTS_NOTIFY_WEBHOOK: "https://a.example" }, "PAYMENTS_NOTIFY_WEBHOOK_SECRET is missing"],
  [{ PAYMENTS_NOTIFY_SLACK: "http://a.example" }, "PAYMENTS_NOTIFY_SLACK must be an https://"],
  [{ PAYMENTS_NOTIFY_EMAIL: "cora@acme.example" }, "PAYMENTS_NOTIFY_EMAIL must be ROLE:ADDRESS"],
  [{ PAYMENTS_NOTIFY_EMAIL: "owner:cora" }, "PAYMENTS_NOTIFY_EMAIL must be an e-mail address"],
  [{ PAYMENTS_NOTIFY_EMAIL: "owner:a@b.example" }, "PAYMENTS_NOTIFY_SMTP_URL"],
  [{ PAYMENTS_NOTIFY_SMTP_URL: "smtp://a.example" }, "PAYMENTS_NOTIFY_SMTP_FROM is missing"],
])("a mistake in a notification variable names the variable: %j", (env, message) => {
  expect(loadEnvironment(env).problems.join("\n")).toContain(message);
});
