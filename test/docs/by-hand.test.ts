import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { SECRET, startTestGateway } from "../gateway/support/gateway.ts";
import { pageText } from "../support/docs.ts";
import { startSandbox } from "../support/sandbox.ts";

const run = promisify(execFile);
const hasPrograms = ["curl", "openssl"].every((name) => spawnSync(name, ["version"]).error == null);

/** What a page's block types, in bash; the last of it is what a program answered. */
async function typed(
  page: string,
  line: RegExp,
  values: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const blocks = [...pageText(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
    ([, text = ""]) => text,
  );
  const block = blocks.find((text) => line.test(text)) ?? "";
  const text = Object.entries(values).reduce((all, [name, value]) => {
    expect(all).toContain(name);
    return all.replaceAll(name, value);
  }, block);
  const { PATH = "" } = process.env;
  const { stdout } = await run("bash", ["-c", text], { env: { PATH, NO_PROXY: "*", ...env } });
  return JSON.parse(stdout);
}

describe.runIf(hasPrograms)("what pages type by hand beside payrun", () => {
  test("signs a webhook that the gateway takes, and knows again", async () => {
    const gateway = await startTestGateway();
    onTestFinished(() => gateway.stop());
    // This process may live on another day than `date`.
    const now = String(Math.floor(Date.now() / 1_000));
    const address = { "http://127.0.0.1:8088": gateway.url };
    const values = { ...address, "$(date +%s)": now, biz_123: "biz_acme" };
    const secret = { ACME_WEBHOOK_SECRET: SECRET };
    const type = () => typed("docs/gateway.md", /^curl .*\/webhooks\//m, values, secret);
    expect(await type()).toMatchObject({ duplicate: false });
    expect(await type()).toMatchObject({ duplicate: true });
  });

  test("makes a bill in the sandbox that is approved already", async () => {
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox.stop());
    const contact = { displayName: "Volt", bankAccount: ACCOUNT };
    const vendor = await sandbox.api<{ id: string }>("POST", "/v1/contacts", { body: contact });
    const values = { "http://127.0.0.1:8089": sandbox.url, CONTACT_ID: vendor.body.id };
    const bill = await typed("docs/events.md", /^curl .*\/sandbox\/payables/m, values);
    expect(bill).toMatchObject({ status: "approved", totalAmountCents: 12_500 });
  });
});

const ACCOUNT = {
  accountNumber: "123456789",
  routingNumber: "021000021",
  accountType: "checking",
} as const;
