import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { chromiumPath } from "../browser/support/chromium.ts";
import { openBrowser, PHONE } from "../browser/support/visitor.ts";
import { httpReceiver } from "../notices/receivers.ts";
import { isLong } from "../support/long.ts";
import { ended, expectBank, plannedScene, standing } from "../support/scene.ts";
import { stacks } from "../support/stack.ts";
import { until } from "../support/waits.ts";

const start = stacks();

/** The folder for screenshots of what the controller sees, from KEEP_SCREENSHOTS=FOLDER. */
const SHOTS = process.env["KEEP_SCREENSHOTS"];

test.runIf(isLong && chromiumPath() !== undefined)(
  "a controller on a phone gets from Slack's message through sign-in to approved and settled bills",
  async () => {
    const slack = await httpReceiver();
    const payrun = await start({ tokenFile: true });
    const file = join(payrun.home, "profiles.yaml");
    const written = JSON.parse(await readFile(file, "utf8")) as { businesses: { default: object } };
    const notify = { channels: { finance: { slack: slack.url, roles: ["controller"] } } };
    const profile = { ...written.businesses.default, notify };
    await writeFile(file, JSON.stringify({ businesses: { default: profile } }));
    const { runId, made } = await plannedScene(payrun, "rent", [210_000, 84_350, 12_999]);

    const address = new RegExp(`${payrun.gatewayUrl}/runs/[^\\s|>"\\\\]+`);
    const message = await until(
      () => slack.received.map(({ body }) => body).filter((body) => address.test(body)),
      ({ length }) => length > 0,
    );
    expect(message[0]).toContain("3 bills of $3,073.49 wait for approval");
    expect(message[0]).toContain("Decide by");

    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await (await browser.newContext(PHONE)).newPage();
    const shot = async (name: string): Promise<void> => {
      if (SHOTS === undefined || SHOTS === "1") return;
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `day-${name}.png`), fullPage: true });
    };
    // The message's link carries no authority: its reader signs in first, and then returns to it.
    await page.goto(address.exec(message[0] ?? "")?.[0] ?? "");
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await shot("1-sign-in");
    const link = await payrun.call<{ code: string }>("controller", "POST", "/v1/sign-in-links");
    await page.getByLabel("Code of your link").fill(link.body.code);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Check and approve" }).waitFor();
    await shot("2-run");
    await page.getByRole("button", { name: "Check and approve" }).click();
    await page.getByRole("heading", { level: 1, name: "Check before you approve" }).waitFor();
    await shot("3-check");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { level: 1, name: "Approved" }).waitFor();
    expect(await page.locator("main").innerText()).toContain("3 bills, $3,073.49, go out.");
    await shot("4-approved");

    expect(standing(await ended(payrun, runId))).toEqual({ settled: 3 });
    await page.getByRole("link", { name: "Follow the run" }).click();
    await page.locator("#phase").getByText("Complete").waitFor();
    await shot("5-settled");
    await expectBank(
      payrun,
      made.map((bill) => [bill, bill.amountCents]),
    );
  },
);
