import { appendFileSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { connectSandbox } from "../../../src/cli/parts/sandbox-business.ts";
import { loadConfig } from "../../../src/config.ts";
import { sharedSandboxTest } from "../../sandbox/sandbox-test.ts";
import type { TestSandbox } from "../../support/sandbox.ts";
import { temporaryFolder } from "../cli.ts";

const test = sharedSandboxTest();

const MORE = `    achAuthorization: { acceptedBy: Ada Okafor, acceptedAt: 2026-01-05 }
    notify: { channels: { ops: { slack: "http://127.0.0.1:9000/hook" } } }
`;

function connect(sandbox: TestSandbox, home: string, gatewayUrl: string) {
  const greeting = {
    url: sandbox.url,
    businesses: [{ businessId: sandbox.business.businessId }],
  };
  return connectSandbox({ home, greeting, gatewayUrl });
}

test("the profile is written once, readable only by its owner, and keeps people's changes", async ({
  sandbox,
}) => {
  const home = temporaryFolder();
  const { profilesPath } = await connect(sandbox, home, "http://127.0.0.1:8088");
  expect(statSync(profilesPath).mode & 0o777).toBe(0o600);
  appendFileSync(profilesPath, MORE);
  const again = await connect(sandbox, home, "http://127.0.0.1:9099");
  expect(readFileSync(profilesPath, "utf8").endsWith(MORE)).toBe(true);
  const [business] = loadConfig({ PAYRUN_PROFILES: profilesPath }).profiles.all();
  expect(business).toMatchObject({
    name: "sandbox",
    apiUrl: sandbox.url,
    businessId: sandbox.business.businessId,
    achAuthorization: { acceptedBy: "Ada Okafor" },
    notify: { channels: [{ name: "ops" }] },
  });
  expect(business?.webhookSecrets).toHaveLength(1);
  const { body } = await sandbox.api<{ items: { id: string; url: string }[] }>(
    "GET",
    "/v1/webhook-endpoints",
  );
  expect(body.items).toMatchObject([
    { id: again.webhookEndpointId, url: "http://127.0.0.1:9099/webhooks/sandbox" },
  ]);
});

test("the files that the profile refers to are written at each start; a lost secret is replaced", async ({
  sandbox,
}) => {
  const home = temporaryFolder();
  const { profilesPath } = await connect(sandbox, home, "http://127.0.0.1:8088");
  rmSync(join(home, "sandbox-profile"), { recursive: true });
  await connect(sandbox, home, "http://127.0.0.1:8088");
  const [business] = loadConfig({ PAYRUN_PROFILES: profilesPath }).profiles.all();
  expect(business?.webhookSecrets[0]).toMatch(/^whsec_/);
});
