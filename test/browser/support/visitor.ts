import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import type { TestGateway } from "../../gateway/support/gateway.ts";
import { chromiumPath } from "./chromium.ts";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** The axe rules for WCAG 2.2 AA, and its best practices. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 1,
  hasTouch: true,
};
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 860 } };

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath() ?? "chromium",
    // Chromium's sandbox does not work for root; all pages are ours.
    args: ["--no-sandbox", "--force-prefers-reduced-motion"],
  });
}

/** Signs a person in by the button of a link, in a browser of their own. */
export async function visitor(
  browser: Browser,
  gateway: TestGateway,
  who: {
    readonly name: string;
    readonly roles: readonly string[];
    readonly businesses?: readonly string[];
  },
  options: BrowserContextOptions = DESKTOP,
): Promise<Page> {
  const token = await gateway.token(who.name, who.roles, who.businesses);
  const link = await gateway.call("POST", "/v1/sign-in-links", token);
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const code = String(link.json["code"]);
  if (options.javaScriptEnabled === false) {
    await page.goto(`${gateway.url}/sign-in`);
    await page.getByLabel("Code of your link").fill(code);
  } else {
    await page.goto(`${gateway.url}/sign-in#${code}`);
  }
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
  return page;
}

/** Returns axe's findings on a page: each rule, and what breaks it. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(`axe
    .run(document, { runOnly: ${JSON.stringify(RULES)} })
    .then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")),
    )`);
}

/** Returns the pixels by which a page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
}

/** Returns targets that are too low for a finger or a pointer, except links within sentences. */
export function lowTargets(page: Page, least: number): Promise<string[]> {
  return page.evaluate<
    string[]
  >(`[...document.querySelectorAll("a, button, summary, input, select")]
    .filter((it) => it.type !== "hidden" && !it.matches(".skip"))
    .filter((it) => it.tagName !== "A" || getComputedStyle(it).display !== "inline")
    .map((it) => ({ it, height: (it.closest("label") ?? it).getBoundingClientRect().height }))
    .filter(({ height }) => height > 0 && height < ${least})
    .map(({ it, height }) => (it.textContent.trim() || it.name) + ": " + height)`);
}

/** Returns the label or the text of what has the keyboard's focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    "(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()",
  );
}
