import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { SECRET, startTestGateway } from "../gateway/support/gateway.ts";
import { pageText } from "../support/docs.ts";
import { startSandbox } from "../support/sandbox.ts";

const run = promisify(execFile);
const hasPrograms = ["curl", "openssl"].every((name) => spawnSync(name, ["version"]).error == null);

/** Runs a page's code block in bash; returns the JSON that it printed. */
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

describe.runIf(hasPrograms)("commands on the pages other than payrun", () => {
  test("the gateway page's commands send a signed webhook that the gateway accepts, and a repetition is a duplicate", async () => {
    const gateway = await startTestGateway();
    onTestFinished(() => gateway.stop());
    // The test's clock may be set to a different day than `date` returns.
    const now = String(Math.floor(Date.now() / 1_000));
    const address = { "http://127.0.0.1:8088": gateway.url };
    const values = { ...address, "$(date +%s)": now, biz_123: "biz_acme" };
    const secret = { ACME_WEBHOOK_SECRET: SECRET };
    const type = () => typed("docs/gateway.md", /^curl .*\/webhooks\//m, values, secret);
    expect(await type()).toMatchObject({ duplicate: false });
    expect(await type()).toMatchObject({ duplicate: true });
  });

  test("the events page's command makes an approved bill in the sandbox", async () => {
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
