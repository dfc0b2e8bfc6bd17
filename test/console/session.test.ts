import { describe, expect } from "vitest";
import { profile, type TestGateway } from "../gateway/support/gateway.ts";
import type { SeededRun } from "../gateway/support/rows.ts";
import { Browser } from "../gateway/sign-in/browser.ts";
import { gatewayOf } from "../gateway/support/gateway-test.ts";
import { signedIn, Visits } from "./support/visits.ts";
import { approverTest, CALLED, checkOf, decidedIn } from "./support/approvals.ts";
import { seedWeekly } from "./support/weekly-run.ts";

const test = approverTest;

const check = (run: SeededRun, out?: readonly string[]) => checkOf(run, out);
const counted = (gateway: TestGateway, run: SeededRun) => decidedIn(gateway, run);

describe("access to pages", () => {
  test("a person sees no run, bill or vendor of another business", async ({ page }) => {
    const gateway = await gatewayOf({
      profiles: [profile(), profile({ name: "beta", businessId: "biz_beta" })],
    });
    const run = await seedWeekly(gateway.store);
    const mallory = await signedIn(gateway, "mallory", ["controller", "owner"], ["beta"]);
    for (const path of [page, check(run), "/bills/pbl_0101"]) {
      const answer = await mallory.get(path);
      expect(answer.status, path).toBe(404);
      expect(answer.text, path).not.toContain("Northwind");
    }
    for (const path of ["/", "/vendors/con_4", "/reports", "/holds"]) {
      expect((await mallory.get(path)).text, path).not.toMatch(/weekly|Northwind/);
    }
  });

  test("a form that another page made does nothing", async ({ gateway, run, cora, page }) => {
    const fields = { plan: run.planHash, ...CALLED };
    const forged = await cora.post(`${page}/approve`, fields);
    expect(forged.status).toBe(403);
    const elsewhere = await cora.browser.post(`${page}/approve`, fields, "https://evil.example");
    expect(elsewhere.status).toBe(403);
    expect(await counted(gateway, run)).toEqual([]);
  });

  test("a form whose sign-in has ended does nothing, and says so before the next sign-in", async ({
    gateway,
    run,
    page,
  }) => {
    const nobody = new Visits(new Browser(gateway.url));
    const answer = await nobody.post(`${page}/approve`, { plan: run.planHash, ...CALLED });
    expect(answer.text).toContain("Your sign-in had ended, so nothing was done.");
    expect(await counted(gateway, run)).toEqual([]);
  });

  test("a page sends a person without a sign-in to sign in and back; a cookie doesn't open the API", async ({
    gateway,
    cora,
    page,
  }) => {
    const answer = await fetch(`${gateway.url}${page}`, { redirect: "manual" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(`/sign-in?to=${encodeURIComponent(page)}`);
    expect(
      (await fetch(`${gateway.url}/v1${page}`, { headers: { cookie: cora.browser.cookie } }))
        .status,
    ).toBe(401);
  });
});

describe("Above the profile's amount", () => {
  const careful = profile({ signIn: { freshOverCents: 100_000 } });
  const test = approverTest
    .extend("clock", () => ({ nowMs: Date.now() }))
    .extend("gateway", ({ clock }) => gatewayOf({ profiles: [careful], nowMs: () => clock.nowMs }))
    .extend("token", ({ gateway }) => gateway.token("cora", ["controller"]));

  async function signInAgain(gateway: TestGateway, cora: Visits, by: string): Promise<void> {
    const link = await gateway.call("POST", "/v1/sign-in-links", by);
    await cora.browser.post("/sign-in", { code: String(link.json["code"]), to: "/" });
  }

  /** More bills left out than an address can carry across a sign-in. */
  const OUT = Array.from({ length: 40 }, (_, no) => `pbl_${String(no + 115).padStart(4, "0")}`);

  /** Sends a filled-in form too long after the sign-in. @returns the address that leads back */
  async function asked(
    gateway: TestGateway,
    run: SeededRun,
    cora: Visits,
    page: string,
    clock: { nowMs: number },
  ): Promise<string> {
    clock.nowMs += 16 * 60_000;
    const filled = { ...CALLED, comment: "disputed" };
    const refused = await cora.send(await cora.get(check(run, OUT)), `${page}/approve`, filled);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("Sign in again first");
    expect(await counted(gateway, run)).toEqual([]);
    const [, to = ""] = /sign-in\?again=true&amp;to=([^"]+)/.exec(refused.html) ?? [];
    expect(decodeURIComponent(to)).toBe(`${check(run)}&kept=yes`);
    return decodeURIComponent(to);
  }

  test("a form is filled in again after a newer sign-in, and decides nothing until it is resent", async ({
    gateway,
    run,
    cora,
    page,
    clock,
    token,
  }) => {
    const to = await asked(gateway, run, cora, page, clock);
    await signInAgain(gateway, cora, token);
    const again = await cora.get(to);
    expect(again.text).toContain("You leave out 40 bills");
    for (const typed of [...Object.values(CALLED), "disputed"]) {
      expect(again.html).toContain(`value="${typed}"`);
    }
    expect(again.text).toContain("Nothing is decided yet");
    expect(await counted(gateway, run)).toEqual([]);
    const done = await cora.send(again, `${page}/approve`, { ...CALLED, comment: "disputed" });
    expect(done.text).toContain("40 bills are left out of this run only.");
    expect(await counted(gateway, run)).toEqual(["cora approve accepted"]);
  });

  test("a kept form is shown to no other person, on no other page, and not for long", async ({
    gateway,
    run,
    cora,
    page,
    clock,
    token,
  }) => {
    const to = await asked(gateway, run, cora, page, clock);
    const typed = 'value="Ann Lee, accounts"';
    await signInAgain(gateway, cora, token);
    const other = to.replace(run.planHash, "another");
    expect((await cora.get(other)).html).not.toContain(typed);
    await signInAgain(gateway, cora, await gateway.token("otto", ["controller", "owner"]));
    expect((await cora.get(to)).html).not.toContain(typed);
    clock.nowMs += 16 * 60_000;
    await signInAgain(gateway, cora, token);
    expect((await cora.get(to)).html).not.toContain(typed);
  });
});

test("a link can't fill in a form: a call that its address describes is not in the form", async ({
  run,
  cora,
}) => {
  const link = `${check(run)}&${new URLSearchParams({ ...CALLED, comment: "as agreed" }).toString()}`;
  const { html } = await cora.get(link);
  expect(html).not.toContain("Ann Lee");
  expect(html).not.toContain("as agreed");
});

test("pages load nothing from other sites, run nothing inline and can't be framed", async ({
  gateway,
  cora,
  page,
}) => {
  const { headers, html } = await cora.get(page);
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
  expect(headers.get("cache-control")).toBe("no-store");
  expect(html).not.toMatch(/ style="| on\w+="|javascript:/);
  for (const [, address = ""] of html.matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)) {
    const file = await fetch(`${gateway.url}${address}`);
    expect(file.status).toBe(200);
    expect(file.headers.get("cache-control")).toContain("immutable");
    const most = address.includes(".css") ? 20_480 : 3_072;
    expect((await file.arrayBuffer()).byteLength).toBeLessThan(most);
  }
});
