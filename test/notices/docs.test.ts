import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { NOTICE_KINDS } from "../../src/contracts/notices.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";

const page = readFileSync(new URL("../../docs/notices.md", import.meta.url), "utf8");
const [profiles = "", block = ""] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(
  ([, text]) => text ?? "",
);

test("the profile on the page can be used as it stands", () => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-docs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "profiles.yaml");
  writeFileSync(file, profiles);
  const config = loadConfig({
    PAYRUN_PROFILES: file,
    ACME_TOKEN: "token",
    SMTP_URL: "smtps://payrun:secret@mail.acme.example",
    NOTICE_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
    SLACK_URL: "https://hooks.slack.example/services/T0/B0/xyz",
  });
  const channels = config.profiles.get("acme")?.notify?.channels ?? [];
  expect(channels.map(({ name, type }) => `${name} ${type}`)).toEqual([
    "ops webhook",
    "finance slack",
    "mail email",
  ]);
});

test("the playbook keys on the page mean what the page says", () => {
  const result = loadPlaybook(`kind: pay-run\n${block}`, { file: "weekly.yaml" });
  if (!result.ok) throw new Error(JSON.stringify(result));
  expect(result.playbook).toMatchObject({
    notify: { people: "by-role", digest: "weekly" },
    remittance: { as: "Acme, Inc.", replyTo: "payables@acme.example" },
    accounting: { syncedWithinDays: 1 },
  });
});

test("the page's table lists every kind of notice, and no other", () => {
  const table = /## Kinds\n(.*?)\n## /s.exec(page)?.[1] ?? "";
  const named = [...table.matchAll(/^\|([^|]+)\|/gm)].flatMap(([, cell]) =>
    [...(cell ?? "").matchAll(/`([a-z-]+)`/g)].map(([, kind]) => kind),
  );
  expect(new Set(named)).toEqual(new Set([...NOTICE_KINDS, "remittance"]));
  expect(named).toHaveLength(NOTICE_KINDS.length + 1);
});
