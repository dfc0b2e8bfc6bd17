import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/long.ts";
import { faults, LOOKS, type Look, wear } from "./looks/look.ts";
import { CORA, type State, type Who } from "./looks/state.ts";
import { AROUND } from "./looks/states-around.ts";
import { BILLS, NEEDS_ACTION } from "./looks/states-of-bills.ts";
import { DECISIONS, RUNS } from "./looks/states-of-runs.ts";
import { STOPS } from "./looks/states-of-stops.ts";
import { startWorld, type World } from "./looks/world.ts";
import { openBrowser, visitor } from "./support/visitor.ts";

/** In this order, because what is done on one page appears on others. */
const GROUPS: readonly (readonly [string, readonly State[]])[] = [
  ["a run", RUNS],
  ["a bill", BILLS],
  ["what needs action", NEEDS_ACTION],
  ["decisions", DECISIONS],
  ["holds and stops", STOPS],
  ["signing in, searching and what there is not", AROUND],
];

/** The folder for pictures of each state in each look, with KEEP_SCREENSHOTS=1; ignored by git. */
const PICTURES = fileURLToPath(new URL("../../tmp/looks/", import.meta.url));
/** The folder of pictures for README and docs, which show the part that fits a window. */
const DOCS = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const IN_DOCS: Readonly<Record<string, string>> = {
  "today--wide-light": "console-today.png",
  "approve-bank-change--wide-light": "console-approve.png",
  "run--phone-dark": "console-run-phone.png",
};
const isKept = process.env["KEEP_SCREENSHOTS"] === "1";

let states = 0;

/** Returns one look for each state in turn in a short run, and otherwise all of them. */
function looksOf(): readonly Look[] {
  const inTurn = LOOKS[states++ % LOOKS.length];
  return isLong || isKept || inTurn === undefined ? LOOKS : [inTurn];
}

let browser: Browser;
let world: World;
const pages = new Map<string, Page>();

beforeAll(async () => {
  browser = await openBrowser();
  world = await startWorld();
  if (isKept) mkdirSync(PICTURES, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await world.stop();
});

/** Returns a page in a browser of `who`; axe is a script of the test, which our policy forbids. */
async function pageOf(who: Who | null): Promise<Page> {
  const options = { bypassCSP: true };
  if (who === null) return (await browser.newContext(options)).newPage();
  const known = pages.get(who.name);
  if (known !== undefined) return known;
  const page = await visitor(browser, world.gateway, who, options);
  pages.set(who.name, page);
  return page;
}

async function seen(state: State): Promise<string[]> {
  const page = await pageOf(state.who);
  const looks = looksOf();
  await wear(page);
  await state.come(page, world);
  const found: string[] = state.who === null ? [] : await lacking(page);
  for (const [at, look] of looks.entries()) {
    await wear(page, look, state.isPrinted);
    // Of all four looks, axe checks the first and the last: both widths and both colors. A short
    // run uses it in every other round of the looks.
    const isTurn = looks.length > 1 || Math.ceil(states / LOOKS.length) % 2 === 1;
    const withAxe = isTurn && (at === 0 || at === LOOKS.length - 1);
    found.push(...(await faults(page, look, withAxe)).map((fault) => `${look.name}: ${fault}`));
    if (isKept) await keep(page, state, look);
  }
  if (state.who === null) await page.context().close();
  return found;
}

/**
 * Returns the parts that each page has for signed-in people, and this one lacks; sign-in pages have
 * none.
 */
async function lacking(page: Page): Promise<string[]> {
  if (new URL(page.url()).pathname.startsWith("/sign-in")) return [];
  const parts = ["form[role=search] input[name=q]", "#banners", 'header.top a[href="/emergency"]'];
  const counts = await Promise.all(parts.map((part) => page.locator(part).count()));
  return parts.filter((_, at) => counts[at] !== 1).map((part) => `lacks ${part}`);
}

async function keep(page: Page, state: State, look: Look): Promise<void> {
  const name = `${state.name}--${look.name}`;
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: `${PICTURES}${name}.png`, fullPage: true });
  const inDocs = IN_DOCS[name];
  if (inDocs !== undefined) await page.screenshot({ path: `${DOCS}${inDocs}` });
}

test("no page breaks its own policy: nothing inline, nothing from other origins", async () => {
  const page = await visitor(browser, world.gateway, { ...CORA, name: "carl" });
  const problems: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(world.gateway.url)) problems.push(request.url());
  });
  for (const state of GROUPS.flatMap(([, states]) => states)) {
    if (state.isAddress === true && state.who === CORA) await state.come(page, world);
  }
  expect(problems).toEqual([]);
});

describe.each(GROUPS)("the pages of %s", (_, states) => {
  test.each(states.map((state) => [state.name, state] as const))(
    "%s has no faults for its readers, wide and on a phone, light and dark",
    async (_name, state) => {
      expect(await seen(state)).toEqual([]);
    },
  );
});
