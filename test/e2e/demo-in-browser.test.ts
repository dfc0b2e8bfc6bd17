import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { runPage } from "../../src/contracts/console-pages.ts";
import { chromiumPath } from "../browser/support/chromium.ts";
import { openBrowser } from "../browser/support/visitor.ts";
import { MAIN, temporaryFolder } from "../cli/cli.ts";
import { stackSettings, untilNoneIsLeft } from "../cli/stack.ts";
import { isLong } from "../support/long.ts";
import { drawTerminal } from "../support/terminal-picture.ts";

/** The folder of the README's pictures, which KEEP_SCREENSHOTS=1 takes again. */
const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const isKept = process.env["KEEP_SCREENSHOTS"] === "1";

test.runIf(isLong && chromiumPath() !== undefined)(
  "the demo's run is in Temporal's UI with its wait and a link, and the demo stays up afterwards",
  async () => {
    const demo = await startDemo();
    await demo.said("Lookup");
    const ui = /Temporal UI +(\S+)/.exec(demo.plain())?.[1] ?? "";
    const runId = /pay-run\/sandbox\/\S+/.exec(demo.plain())?.[0] ?? "";

    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(`${ui}/namespaces/default/workflows/${encodeURIComponent(runId)}`);
    await page.getByText("User Metadata", { exact: true }).click();
    // The UI shows a workflow's own texts in separate frames.
    const texts = async () =>
      (await Promise.all(page.frames().map((each) => each.locator("body").innerText()))).join("\n");
    await expect.poll(texts).toMatch(/Waits for: .*\d+ bills? /);
    const links = page.frames().map((each) => each.locator(`a[href*="${runPage(runId)}"]`).count());
    expect(Math.max(...(await Promise.all(links)))).toBe(1);
    if (isKept) await page.screenshot({ path: join(IMAGES, "temporal-ui.png") });

    await demo.said("Ctrl-C stops everything.");
    expect(demo.plain()).toMatch(/Difference \$0\.00\. Paid twice: 0/);
    if (isKept) await drawTerminal(browser, asByDefault(demo.printed()), join(IMAGES, "demo.png"));
    expect(demo.exitCode()).toBeNull();
    await demo.stop();
  },
);

async function startDemo() {
  const cwd = temporaryFolder();
  const home = join(cwd, ".payrun");
  const env = { ...(await stackSettings(home)), FORCE_COLOR: "1" };
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, [MAIN, "demo"], { cwd, env, stdio: [...stdio] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  // oxlint-disable-next-line no-control-regex -- what a terminal takes for colours
  const plain = () => printed.replaceAll(/\u001B\[\d+m/g, "");
  return {
    plain,
    printed: () => printed,
    exitCode: () => child.exitCode,
    async said(words: string): Promise<void> {
      await expect.poll(plain, { timeout: 180_000 }).toContain(words);
    },
    async stop(): Promise<void> {
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
      await untilNoneIsLeft(home);
    },
  };
}

/** Replaces the ports in a text by the default ones. */
function asByDefault(printed: string): string {
  const ports = { "Temporal UI": "8233", Gateway: "8088", Sandbox: "8089" };
  return Object.entries(ports).reduce((text, [part, port]) => {
    const [, taken = ""] = new RegExp(`${part} +http://127.0.0.1:(\\d+)`).exec(text) ?? [];
    return text.replaceAll(`127.0.0.1:${taken}`, `127.0.0.1:${port}`);
  }, printed);
}
