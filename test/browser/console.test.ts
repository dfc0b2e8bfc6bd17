import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { getPlanLine } from "../../src/store/lines/plan-lines.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import { seedWeekly } from "../console/support/weekly-run.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { profile, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { setLine, type SeededRun } from "../gateway/support/rows.ts";
import { focused, openBrowser, PHONE, visitor } from "./support/visitor.ts";

const CORA = { name: "cora", roles: ["controller"] };
const OTTO = { name: "otto", roles: ["owner"] };

let browser: Browser;
let gateway: TestGateway;
let run: SeededRun;
let address: string;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  gateway = await startTestGateway();
  run = await seedWeekly(gateway.store);
  address = `${gateway.url}/runs/${encodeURIComponent(run.runId)}`;
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  await gateway.stop();
});

async function counted(): Promise<string[]> {
  const decisions = await decisionsOfRun(gateway.store.db, run.runId);
  return decisions.map(({ principal, decision }) => `${principal} ${decision}`);
}

/** Goes from the run's page to the page that checks what is approved. */
async function toCheck(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Check and approve" }).click();
  await page.getByRole("heading", { level: 1, name: "Check before you approve" }).waitFor();
}

async function fillIn(page: Page): Promise<void> {
  await page.getByLabel("Whom did you call?").fill("Ann Lee, accounts");
  await page.getByLabel("On which number, known from before?").fill("+1 212 555 0100");
}

async function said(page: Page, title: string): Promise<string> {
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  return (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
}

async function planAnew(): Promise<void> {
  const plan = await getPlanLine(gateway.store.db, run.runId, "pbl_0101");
  if (plan === undefined) throw new Error("no line");
  const anew = { ...plan, version: 2, amountCents: plan.amountCents + 100_000, lineHash: "anew" };
  await gateway.store.transaction((trx) =>
    storeReplannedLines(trx, {
      runId: run.runId,
      lines: [{ plan: anew, reason: "its amount has changed" }],
      nowMs: Date.now(),
    }),
  );
}

test("a controller follows the notice's link on a phone, leaves a bill out and approves her part", async () => {
  const page = await visitor(browser, gateway, CORA, PHONE);
  await page.goto(address);
  await page.getByLabel("Leave out BILL-000104, Northwind Freight").check();
  await toCheck(page);
  expect(await page.locator("main").innerText()).toContain("You leave out 1 bill");
  await page.getByLabel("Why these bills are left out").fill("looks forged");
  await page.getByRole("button", { name: "Approve" }).click();
  expect(await said(page, "Approved")).toMatch(
    /55 bills, \$[\d,.]+, go out.*1 bill is left out of this run only/,
  );
  expect(await counted()).toEqual(["cora approve"]);
  await page.getByRole("link", { name: "Today" }).first().click();
  expect(await said(page, "Today")).toContain("No run waits for your approval.");
});

test("two people decide at once, and both count", async () => {
  const [cora, otto] = [
    await visitor(browser, gateway, CORA),
    await visitor(browser, gateway, OTTO),
  ];
  for (const page of [cora, otto]) {
    await page.goto(address);
    await toCheck(page);
    await fillIn(page);
  }
  await cora.getByRole("button", { name: "Approve" }).click();
  await said(cora, "Approved");
  await otto.getByRole("button", { name: "Approve" }).click();
  expect(await said(otto, "Approved")).toMatch(/3 bills, .* go out/);
  expect(await counted()).toEqual(["cora approve", "otto approve"]);
});

test("a plan that changes on an open page is reported, and a late approval decides nothing", async () => {
  const page = await visitor(browser, gateway, CORA);
  await page.goto(address);
  const checking = await page.context().newPage();
  await checking.goto(address);
  await toCheck(checking);
  // A page that was sent with a mistake is at an address that doesn't name the plan.
  const mistaken = await page.context().newPage();
  await mistaken.goto(address);
  await toCheck(mistaken);
  await mistaken.getByLabel("Whom did you call?").fill("Ann Lee");
  await mistaken.getByLabel("On which number, known from before?").fill("none");
  await mistaken.getByRole("button", { name: "Approve" }).click();
  await mistaken.locator(".problem").first().waitFor();
  const late = await visitor(browser, gateway, CORA, { javaScriptEnabled: false });
  await late.goto(address);
  await toCheck(late);
  await fillIn(late);
  await planAnew();
  for (const each of [page, checking, mistaken]) {
    await each.getByRole("alert").getByText("The plan has changed").waitFor();
    expect(await each.getByRole("button", { name: /pprove$/ }).isDisabled()).toBe(true);
  }
  await late.getByRole("button", { name: "Approve" }).click();
  const text = await said(late, "The plan has changed");
  expect(text).toContain("Nothing was decided.");
  expect(text).toContain("its amount has changed");
  expect(await counted()).toEqual([]);
});

test("without scripts, people can sign in, decide and stop everything", async () => {
  const page = await visitor(browser, gateway, CORA, { javaScriptEnabled: false });
  await page.goto(address);
  await toCheck(page);
  await fillIn(page);
  await page.getByRole("button", { name: "Approve" }).click();
  await said(page, "Approved");
  expect(await counted()).toEqual(["cora approve"]);
  const olga = await visitor(
    browser,
    gateway,
    { name: "olga", roles: ["operator"] },
    { javaScriptEnabled: false },
  );
  await olga.getByRole("link", { name: "Stop everything" }).click();
  await olga.getByLabel("Why").fill("odd debits");
  await olga.getByRole("button", { name: "Stop everything" }).click();
  await said(olga, "Everything is stopped");
  await page.goto(address);
  expect(await page.locator("#banners").innerText()).toContain("Everything is on hold");
});

test("a stop appears on pages that are already open", async () => {
  const cora = await visitor(browser, gateway, CORA);
  await cora.goto(address);
  const operator = await gateway.token("otis", ["operator"]);
  await gateway.call("POST", "/v1/holds", operator, { all: true, reason: "odd debits" });
  await cora.locator("#banners").getByText("Everything is on hold").waitFor();
});

test("a stop while a run pays shows where the money is, and appears on the run's open page", async () => {
  await setRunPhase(gateway.store.db, run.runId, { phase: "paying" });
  for (const [payableId, state] of [
    ["pbl_0101", "paying"],
    ["pbl_0102", "scheduled"],
    ["pbl_0103", "settled"],
  ] as const)
    await setLine(gateway.store, run.runId, payableId, { state });
  const cora = await visitor(browser, gateway, CORA, PHONE);
  await cora.goto(address);
  expect(await cora.locator("#progress").innerText()).toMatch(/Settled\s+1\s/);
  const olga = await visitor(browser, gateway, { name: "olga", roles: ["operator"] }, PHONE);
  await olga.goto(address);
  await olga.getByRole("link", { name: "Stop everything" }).click();
  await olga.getByLabel("Why").fill("odd debits");
  await olga.getByRole("button", { name: "Stop everything" }).click();
  expect(await said(olga, "Everything is stopped")).toMatch(/Being sent \$[\d,.]+ 1 bill/);
  await setLine(gateway.store, run.runId, "pbl_0102", { state: "settled" });
  await cora.locator("#banners").getByText("odd debits").waitFor();
  await expect.poll(() => cora.locator("#progress").innerText()).toMatch(/Settled\s+2\s/);
});

test("a person of another business sees nothing of this one", async () => {
  await gateway.stop();
  const other = profile({ name: "globex", businessId: "biz_globex" });
  gateway = await startTestGateway({ profiles: [profile(), other] });
  run = await seedWeekly(gateway.store);
  address = `${gateway.url}/runs/${encodeURIComponent(run.runId)}`;
  const who = { name: "nora", roles: ["controller"], businesses: ["globex"] };
  const nora = await visitor(browser, gateway, who);
  await nora.goto(address);
  await said(nora, "There is no such page");
  await nora.goto(`${gateway.url}/bills/pbl_0101`);
  await said(nora, "There is no such page");
  await nora.getByRole("searchbox").fill("Northwind");
  await nora.getByRole("button", { name: "Search" }).click();
  expect(await said(nora, "Search: Northwind")).toContain("Nothing matches");
});

test("a sign-in link works even if the sign-in page is open already", async () => {
  const link = await gateway.call(
    "POST",
    "/v1/sign-in-links",
    await gateway.token(CORA.name, CORA.roles),
  );
  const page = await browser.newPage();
  await page.goto(`${gateway.url}/sign-in`);
  await page.goto(`${gateway.url}/sign-in#${String(link.json["code"])}`);
  await page.getByText("Your link is good for one sign-in.").waitFor();
  expect(page.url()).toBe(`${gateway.url}/sign-in`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await said(page, "Today");
});

test("a stop's result page stays, and its form is never sent again by itself", async () => {
  const page = await visitor(browser, gateway, CORA);
  await page.clock.install();
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(new URL(request.url()).pathname);
  });
  await page.goto(`${gateway.url}/emergency`);
  await page.getByLabel("Why").fill("odd debits");
  await page.getByRole("button", { name: "Stop everything" }).click();
  await said(page, "Everything is stopped");
  for (const _ of [1, 2, 3]) {
    const looked = page.waitForResponse((answer) => answer.request().resourceType() === "fetch");
    await page.clock.fastForward(5_000);
    await looked;
  }
  await said(page, "Everything is stopped");
  expect(sent).toEqual(["/emergency/stop"]);
});

test("a plan can be approved with the keyboard alone", async () => {
  const page = await visitor(browser, gateway, CORA);
  await page.goto(address);
  const tabTo = async (name: string): Promise<void> => {
    for (let press = 0; press < 200; press += 1) {
      await page.keyboard.press("Tab");
      if ((await focused(page)) === name) return;
    }
    throw new Error(`the keyboard never comes to “${name}”`);
  };
  await tabTo("Skip to content");
  await tabTo("Check and approve");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Check before you approve" }).waitFor();
  await tabTo("Whom did you call?");
  await page.keyboard.type("Ann Lee");
  await tabTo("On which number, known from before?");
  await page.keyboard.type("+1 212 555 0100");
  await tabTo("Approve");
  await page.keyboard.press("Enter");
  await said(page, "Approved");
  expect(await counted()).toEqual(["cora approve"]);
});

test("a person who lacks the role or was signed out decides nothing, and the page says why", async () => {
  const vera = await visitor(browser, gateway, { name: "vera", roles: ["viewer"] });
  await vera.goto(`${address}/reject?plan=${run.planHash}`);
  await vera.getByLabel("Why").fill("no");
  await vera.getByRole("button", { name: "Reject the plan" }).click();
  await said(vera, "You may not do this");
  const cora = await visitor(browser, gateway, CORA);
  await cora.goto(address);
  await toCheck(cora);
  await fillIn(cora);
  const admin = await gateway.token("ada", ["admin"]);
  const { json } = await gateway.call("GET", "/v1/sessions", admin);
  for (const { id } of json["items"] as { id: string }[]) {
    await gateway.call("DELETE", `/v1/sessions/${id}`, admin);
  }
  await cora.getByRole("button", { name: "Approve" }).click();
  await said(cora, "Sign in");
  expect(await counted()).toEqual([]);
  // After signing in again, she is back at the form.
  const to = new URL(cora.url()).searchParams.get("to") ?? "";
  expect(to).toBe(`${new URL(address).pathname}/approve?plan=${run.planHash}`);
});
