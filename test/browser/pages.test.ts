import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { seedCancellation } from "../console/support/cancellation.ts";
import { seedDeposit } from "../console/support/deposit.ts";
import { seedWeekly } from "../console/support/weekly-run.ts";
import { startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { seedRun, type SeededRun, planLine, setLine } from "../gateway/support/rows.ts";
import {
  DESKTOP,
  findings,
  lowTargets,
  openBrowser,
  overflow,
  PHONE,
  visitor,
} from "./support/visitor.ts";

/** Where a run with KEEP_SCREENSHOTS=1 puts them. */
const IMAGES = new URL("../../docs/images/", import.meta.url).pathname;

let browser: Browser;
let gateway: TestGateway;
let run: SeededRun;
let token: string;
let holdId: string;
let payingId: string;
let cancellation: string;

const DEPOSIT = "h".repeat(64);

beforeAll(async () => {
  browser = await openBrowser();
  gateway = await startTestGateway();
  run = await seedWeekly(gateway.store);
  token = await gateway.token("olga", ["operator", "admin"]);
  const other = await seedRun(gateway.store, {
    ...{ period: "2026-11-13", launchedBy: "lou", author: "ada" },
    lines: ["0001", "0002", "0003", "0004"].map((no) =>
      planLine(`pbl_old_${no}`, { contactName: `Vendor${no}WithoutASpace`.repeat(5) }),
    ),
  });
  payingId = other.runId;
  await setRunPhase(gateway.store.db, other.runId, { phase: "paying" });
  for (const [payableId, change] of [
    ["pbl_old_0001", { state: "parked", reasonCode: "R02", reason: "R02: account closed." }],
    ["pbl_old_0002", { state: "scheduled", paymentIds: ["pay_1"] }],
    ["pbl_old_0003", { state: "settled", paymentIds: ["pay_2"] }],
    ["pbl_old_0004", { state: "processing", paymentIds: ["pay_3"] }],
  ] as const) {
    await setLine(gateway.store, other.runId, payableId, change);
  }
  // Names as long as those that the service and Temporal give.
  await gateway.store.transaction((trx) =>
    appendAudit(trx, {
      ...{ businessId: "biz_acme", subject: "pbl_old_0001", action: "line:parked", nowMs: 1 },
      ...{ actor: `retry-failed-payment/acme/pbl_${"2938".repeat(8)}`, details: {} },
    }),
  );
  const held = await gateway.call("POST", "/v1/holds", token, {
    ...{ contactId: "con_2", reason: "Dispute about the last delivery" },
  });
  holdId = String(held.json["id"]);
  cancellation = await seedCancellation(gateway.store, ["pbl_0101", "pbl_0102"]);
  await seedDeposit(gateway.store, { run, owner: run.runId, hash: DEPOSIT });
  await gateway.store.transaction((trx) =>
    openIncident(trx, {
      ...{ businessId: "biz_acme", business: "acme", sourceId: "bank_1", code: "R01" },
      ...{ workflowId: "funding-incident/acme/bank_1", reason: "Insufficient funds" },
      ...{ roles: ["owner"], nowMs: Date.now(), failedAtMs: Date.now() },
    }),
  );
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** Each page by the name that its picture has. */
function pages(): Readonly<Record<string, string>> {
  const at = `/runs/${encodeURIComponent(run.runId)}`;
  return {
    today: "/",
    run: at,
    approve: `${at}/approve?plan=${run.planHash}&out=pbl_0101`,
    reject: `${at}/reject?plan=${run.planHash}`,
    changed: `${at}/approve?plan=another`,
    "hold-run": `${at}/hold`,
    "cancel-run": `${at}/cancel`,
    bill: "/bills/pbl_0104?business=acme",
    "hold-bill": "/bills/pbl_0104/hold?business=acme",
    "failed-bill": "/bills/pbl_old_0001?business=acme",
    "cancel-bill": "/bills/pbl_old_0002/cancel?business=acme",
    "retry-bill": "/bills/pbl_old_0001/retry?business=acme",
    "paid-elsewhere": "/bills/pbl_old_0001/paid-elsewhere?business=acme",
    "give-up": "/bills/pbl_old_0001/give-up?business=acme",
    vendor: "/vendors/con_4?business=acme",
    "needs-action": "/needs-action",
    resolve: "/needs-action/resolve?bill=acme%2Fpbl_old_0001",
    incident: "/incidents/bank_1?business=acme",
    emergency: "/emergency",
    "stop-vendor": "/emergency/stop?contactId=con_4&business=acme",
    "stop-which": "/emergency/stop?kind=vendor&q=Pinecrest",
    recall: "/emergency/cancel?bill=acme%2Fpbl_old_0002",
    release: `/holds/release?id=${holdId}`,
    "release-all": "/holds/release-all?by=olga",
    reports: "/reports",
    report: `/reports/${encodeURIComponent(run.runId)}`,
    holds: "/holds",
    "new-hold": "/holds/new?on=source",
    deposit: `${at}/deposit?topUp=${DEPOSIT}&plan=${run.planHash}`,
    cancellation: `/runs/${encodeURIComponent(cancellation)}`,
    "no-such-page": "/nowhere",
    search: "/search?q=Harbor",
    "paying-run": `/runs/${encodeURIComponent(payingId)}`,
    "paying-report": `/reports/${encodeURIComponent(payingId)}`,
    "no-such-bill": "/bills/pbl_nowhere",
    "sign-in": "/sign-in?again=true",
  };
}

/** For README and docs, of the part that fits a window. */
const KEPT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  light: { today: "console-today.png", approve: "console-approve.png" },
  "dark on a phone": { run: "console-run-phone.png" },
};

const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ["light", { ...DESKTOP, colorScheme: "light" }],
  ["dark", { ...DESKTOP, colorScheme: "dark" }],
  ["light on a phone", { ...PHONE, colorScheme: "light" }],
  ["dark on a phone", { ...PHONE, colorScheme: "dark" }],
];

describe.each(LOOKS)("%s", (look, options) => {
  test(`every page, ${look}, is read by everybody: axe finds nothing, nothing is wider than the window, and fingers hit`, async () => {
    // axe runs as a script of the test, which the pages' policy forbids to anybody else.
    const who = { name: `cora-${look}`, roles: ["controller"] };
    const page = await visitor(browser, gateway, who, { ...options, bypassCSP: true });
    for (const [name, path] of Object.entries(pages())) {
      await page.goto(`${gateway.url}${path}`);
      expect(await findings(page), name).toEqual([]);
      expect(await overflow(page), name).toBeLessThanOrEqual(0);
      if (options.hasTouch === true) expect(await lowTargets(page), name).toEqual([]);
      const kept = KEPT[look]?.[name];
      if (process.env["KEEP_SCREENSHOTS"] === "1" && kept !== undefined) {
        await page.screenshot({ path: `${IMAGES}${kept}` });
      }
    }
    await page.context().close();
  });
});

test("no page breaks its own policy: nothing inline, nothing from elsewhere", async () => {
  const page = await visitor(browser, gateway, { name: "cora", roles: ["controller"] });
  const problems: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(gateway.url)) problems.push(request.url());
  });
  for (const path of Object.values(pages())) await page.goto(`${gateway.url}${path}`);
  expect(problems).toEqual([]);
});

test("the pages that answer a form are read by everybody in both colours: a mistake, results, what was stopped and released", async () => {
  const who = { name: "olga-answers", roles: ["operator", "controller"] };
  const page = await visitor(browser, gateway, who, { ...PHONE, bypassCSP: true });
  const press = (button: string) =>
    page.locator("main").getByRole("button", { name: button }).click();
  const look = async (title: string): Promise<void> => {
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findings(page), `${title}, ${colorScheme}`).toEqual([]);
    }
    expect(await overflow(page), title).toBeLessThanOrEqual(0);
  };
  const { approve = "", resolve = "", "stop-vendor": stopVendor = "", release = "" } = pages();
  await page.goto(`${gateway.url}${approve.replace("&out=pbl_0101", "")}`);
  await page.getByLabel("Whom did you call?").fill("Ann Lee");
  await page.getByLabel("On which number, known from before?").fill("none");
  await press("Approve");
  await page.locator(".problem").waitFor();
  await look("Check before you approve");
  await page.goto(`${gateway.url}${resolve}`);
  await page.getByLabel("Give up").check();
  await page.getByLabel("Why").fill("never delivered");
  await press("Do this");
  await look("Done");
  await page.goto(`${gateway.url}${stopVendor}`);
  await page.getByLabel("Why").fill("odd debits");
  await press("Stop");
  await look("Northwind Freight is stopped");
  await page.goto(`${gateway.url}${release}`);
  await press("Release it");
  await look("Released");
});
