import { spawn } from "node:child_process";
import { once } from "node:events";
import { Connection } from "@temporalio/client";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { devServerArguments } from "../../src/temporal/dev-server.ts";
import { chromiumPath } from "../browser/support/chromium.ts";
import { DESKTOP, openBrowser } from "../browser/support/visitor.ts";
import { freePort } from "../support/free-port.ts";
import { isLong } from "../support/long.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { plannedRun, stacks } from "../support/stack.ts";

const start = stacks();

/** A summary of an activity, and the run's result. */
const PLAIN = ["Counts approvals, and asks who is still missing", '"rejected"'];

test.runIf(isLong && chromiumPath() !== undefined)(
  "Temporal's UI decrypts a real business's run only for people signed in at the gateway",
  async () => {
    const temporal = await temporalWithUi();
    const payrun = await start({
      sandbox: false,
      temporalAddress: temporal.address,
      temporalUi: temporal.ui,
    });
    const { runId } = await plannedRun(payrun, [123_45, 678_90]);
    const rejected = await payrun.decide("controller", runId, "reject");
    expect(rejected.status).toBe(200);
    await payrun.untilPhase(runId, "rejected");
    const history = `${temporal.ui}/namespaces/default/workflows/${encodeURIComponent(runId)}`;

    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const [signedIn, stranger] = [await newPage(browser), await newPage(browser)];
    await signIn(signedIn, payrun);
    for (const page of [signedIn, stranger]) {
      await page.goto(history);
      await expect.poll(() => textOf(page)).toContain("encryption-key-id");
      for (const text of PLAIN) expect(await textOf(page)).not.toContain(text);
      await decryptWith(page, `${payrun.gatewayUrl}/codec`);
      await page.reload();
    }
    for (const text of PLAIN) await expect.poll(() => textOf(signedIn)).toContain(text);
    await expect.poll(() => textOf(stranger)).toContain("encryption-key-id");
    for (const text of PLAIN) expect(await textOf(stranger)).not.toContain(text);
  },
);

async function newPage(browser: Browser): Promise<Page> {
  return (await browser.newContext(DESKTOP)).newPage();
}

function textOf(page: Page): Promise<string> {
  return page.locator("body").innerText();
}

/** Sets the decryption endpoint in the UI's own settings, as docs/temporal.md says. */
async function decryptWith(page: Page, endpoint: string): Promise<void> {
  await page.getByTestId("data-encoder-status").click();
  await page.getByPlaceholder("Paste your endpoint here").fill(endpoint);
  await page.getByText("Include cross-origin credentials").click();
  await page.getByRole("button", { name: "Apply" }).click();
}

async function signIn(page: Page, payrun: TestPayrun): Promise<void> {
  const link = await payrun.call<{ code: string }>("controller", "POST", "/v1/sign-in-links");
  await page.goto(`${payrun.gatewayUrl}/sign-in#${link.body.code}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
}

/** Starts a Temporal server with a UI for this test. */
async function temporalWithUi(): Promise<{ readonly address: string; readonly ui: string }> {
  const { path } = await findTemporalCli({ env: process.env, log: () => undefined });
  const [port, uiPort] = [await freePort(), await freePort()];
  const server = spawn(path, [...devServerArguments(port), "--ui-port", String(uiPort)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(async () => {
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  });
  const address = `127.0.0.1:${port}`;
  const answers = () => Connection.connect({ address }).then((connection) => connection.close());
  await expect.poll(() => answers().then(() => true, String)).toBe(true);
  return { address, ui: `http://127.0.0.1:${uiPort}` };
}
