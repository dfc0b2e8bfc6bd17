import { expect, test as base } from "vitest";
import { SignInLinkBody, SessionListBody } from "../../../src/api/sessions.ts";
import { listAudit, STORE_TRAIL } from "../../../src/store/audit/audit.ts";
import { confirmedToken } from "../../support/confirmed-token.ts";
import { profile, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { gatewayOf } from "../support/gateway-test.ts";
import { Browser, fieldOf } from "./browser.ts";

const MINUTE_MS = 60_000;

const test = base
  .extend("clock", () => ({ nowMs: Date.now() }))
  .extend("gateway", ({ clock }) => gatewayOf({ nowMs: () => clock.nowMs }))
  .extend("cora", ({ gateway, clock }) => {
    const who = { name: "Cora", roles: ["controller"], createdBy: "ada", nowMs: clock.nowMs };
    return confirmedToken(gateway.store, who);
  })
  .extend("admin", ({ gateway }) => gateway.token("ada", ["admin"]));

async function linkOf(gateway: TestGateway, token: string) {
  return SignInLinkBody.parse((await gateway.call("POST", "/v1/sign-in-links", token)).json);
}

async function signedIn(gateway: TestGateway, token: string): Promise<Browser> {
  const browser = new Browser(gateway.url);
  const { code } = await linkOf(gateway, token);
  expect((await browser.post("/sign-in", { code, to: "/" })).status).toBe(303);
  return browser;
}

/** Returns whom the sign-in page greets; undefined if it asks who it is. */
async function greeted(browser: Browser): Promise<string | undefined> {
  const page = await (await browser.get("/sign-in")).text();
  return /<h1>Signed in as (.*)<\/h1>/.exec(page)?.[1];
}

async function trail(gateway: TestGateway): Promise<string[]> {
  const entries = await listAudit(gateway.store.db, { businessId: STORE_TRAIL });
  return entries
    .filter(({ action }) => action.startsWith("session."))
    .map(({ action, actor }) => `${actor}: ${action}`);
}

test("opening a link does not use it up; its button signs in once", async ({ gateway, cora }) => {
  const link = await linkOf(gateway, cora.token);
  expect(link).toMatchObject({ name: "Cora", url: `${gateway.url}/sign-in#${link.code}` });
  const browser = new Browser(gateway.url);
  for (const method of ["GET", "HEAD"]) {
    expect((await fetch(link.url, { method })).status).toBe(200);
  }
  expect(await greeted(browser)).toBeUndefined();
  const answer = await browser.post("/sign-in", { code: link.code, to: "/runs/pay-run%2Frent" });
  expect(answer.headers.get("location")).toBe("/runs/pay-run%2Frent");
  expect(await greeted(browser)).toBe("Cora");
  const again = await new Browser(gateway.url).post("/sign-in", { code: link.code });
  expect(again.status).toBe(401);
  expect(await again.text()).toContain("used before");
});

test("a link works for ten minutes", async ({ gateway, cora, clock }) => {
  const { code } = await linkOf(gateway, cora.token);
  clock.nowMs += 10 * MINUTE_MS;
  expect((await new Browser(gateway.url).post("/sign-in", { code })).status).toBe(401);
});

test("of several who use one link at once, one is signed in", async ({ gateway, cora }) => {
  const { code } = await linkOf(gateway, cora.token);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => new Browser(gateway.url).post("/sign-in", { code })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    303, 401, 401, 401, 401,
  ]);
});

test("nothing in the store, the trail or the log can be used to sign in", async ({
  gateway,
  cora,
}) => {
  const { code } = await linkOf(gateway, cora.token);
  const browser = new Browser(gateway.url);
  await linkOf(gateway, cora.token);
  await browser.post("/sign-in", { code });
  const secret = browser.cookie.split("=")[1] ?? "";
  const { db } = gateway.store;
  const stored = [
    await db.selectFrom("sessions").selectAll().execute(),
    await db.selectFrom("sign_in_links").selectAll().execute(),
    await listAudit(db, { businessId: STORE_TRAIL }),
    gateway.logged,
  ];
  expect(secret).not.toBe("");
  for (const text of [code, secret]) expect(JSON.stringify(stored)).not.toContain(text);
});

test("no script can read the cookie, and on HTTPS no neighboring domain can set it", async ({
  gateway,
  cora,
}) => {
  const plain = await signedIn(gateway, cora.token);
  expect(plain.set.join()).toMatch(
    /^payrun_session=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const secure = await startTestGateway({ publicUrl: "https://pay.acme.example" });
  try {
    const token = await secure.token("cora", ["controller"]);
    const made = await secure.call("POST", "/v1/sign-in-links", token);
    const { code, url } = SignInLinkBody.parse(made.json);
    expect(url).toBe(`https://pay.acme.example/sign-in#${code}`);
    const browser = new Browser(secure.url);
    expect((await browser.post("/sign-in", { code }, secure.url)).status).toBe(403);
    expect((await browser.post("/sign-in", { code }, "https://pay.acme.example")).status).toBe(303);
    expect(browser.set.join()).toMatch(
      /^__Host-payrun_session=[^;]+;.* Path=\/; HttpOnly; Secure; /,
    );
  } finally {
    await secure.stop();
  }
});

test("a form counts only from a page of this gateway made for this session", async ({
  gateway,
  cora,
}) => {
  const browser = await signedIn(gateway, cora.token);
  const formToken = fieldOf(await (await browser.get("/sign-in")).text(), "form_token");
  const other = await signedIn(gateway, cora.token);
  const othersToken = fieldOf(await (await other.get("/sign-in")).text(), "form_token");
  for (const [form_token, origin] of [
    [formToken, "https://evil.example"],
    [formToken, "null"],
    [formToken, ""],
    [othersToken, gateway.url],
    ["", gateway.url],
  ] as const) {
    expect((await browser.post("/sign-out", { form_token }, origin)).status, origin).toBe(403);
  }
  expect(await greeted(browser)).toBe("Cora");
  expect((await browser.post("/sign-out", { form_token: formToken })).status).toBe(303);
  expect(await greeted(browser)).toBeUndefined();
  expect(await greeted(other)).toBe("Cora");
});

test("a session's cookie gives no access to the API, which requires a token", async ({
  gateway,
  cora,
}) => {
  const { cookie } = await signedIn(gateway, cora.token);
  const answer = await fetch(`${gateway.url}/v1/holds`, { headers: { cookie } });
  expect(answer.status).toBe(401);
});

test("a session ends after twelve hours, and with its token", async ({
  gateway,
  cora,
  admin,
  clock,
}) => {
  const late = await signedIn(gateway, cora.token);
  clock.nowMs += 12 * 60 * MINUTE_MS - 1;
  expect(await greeted(late)).toBe("Cora");
  clock.nowMs += 1;
  expect(await greeted(late)).toBeUndefined();

  const revoked = await signedIn(gateway, cora.token);
  await gateway.call("DELETE", `/v1/tokens/${cora.tokenId}`, admin);
  expect(await greeted(revoked)).toBeUndefined();
});

test("a sign-in sets a new cookie and ends the browser's previous session, even another person's", async ({
  gateway,
  cora,
  admin,
}) => {
  const browser = await signedIn(gateway, cora.token);
  for (const token of [cora.token, admin]) {
    const { code } = await linkOf(gateway, token);
    const old = browser.cookie;
    expect((await browser.post("/sign-in", { code })).status).toBe(303);
    expect(browser.cookie).not.toBe(old);
    const page = await fetch(`${gateway.url}/sign-in`, { headers: { cookie: old } });
    expect(await page.text()).not.toContain("Signed in as");
  }
  expect(await greeted(browser)).toBe("ada");
  // A planted cookie doesn't sign its planter in afterwards.
  const planted = `payrun_session=session_${"x".repeat(43)}`;
  const { code } = await linkOf(gateway, cora.token);
  const headers = { cookie: planted, origin: gateway.url };
  const body = new URLSearchParams({ code });
  const init = { method: "POST", headers, body, redirect: "manual" } as const;
  const answer = await fetch(`${gateway.url}/sign-in`, init);
  expect(answer.status).toBe(303);
  expect(answer.headers.getSetCookie().join()).not.toContain(planted);
  const page = await fetch(`${gateway.url}/sign-in`, { headers: { cookie: planted } });
  expect(await page.text()).not.toContain("Signed in as");
  expect((await trail(gateway)).filter((line) => line.endsWith("session.ended"))).toEqual([
    "Cora: session.ended",
    "ada: session.ended",
  ]);
});

test("once its holder has renewed a token, the person who made it is no longer signed in with it", async ({
  gateway,
  cora,
}) => {
  const makers = await signedIn(gateway, cora.token);
  const { code } = await linkOf(gateway, cora.token);
  const renewed = await gateway.call("POST", "/v1/tokens/renewal", cora.token);
  expect(await greeted(makers)).toBeUndefined();
  expect((await makers.post("/sign-in", { code })).status).toBe(401);
  expect(await greeted(await signedIn(gateway, String(renewed.json["token"])))).toBe("Cora");
});

test("people list and end their own sessions, administrators all; the trail records each end", async ({
  gateway,
  cora,
  admin,
}) => {
  const browser = await signedIn(gateway, cora.token);
  await signedIn(gateway, admin);
  const otto = await gateway.token("otto", ["operator"]);
  const listed = async (token: string) =>
    SessionListBody.parse((await gateway.call("GET", "/v1/sessions", token)).json).items;
  expect(await listed(otto)).toEqual([]);
  const [mine] = await listed(cora.token);
  expect(mine).toMatchObject({ name: "Cora", way: "link", tokenId: cora.tokenId, state: "valid" });
  expect((await listed(admin)).map(({ name }) => name).toSorted()).toEqual(["Cora", "ada"]);
  const path = `/v1/sessions/${mine?.id ?? ""}`;
  expect((await gateway.call("DELETE", path, otto)).status).toBe(404);
  expect((await gateway.call("DELETE", path, admin)).json).toMatchObject({ endedBy: "ada" });
  expect(await greeted(browser)).toBeUndefined();
  expect(await trail(gateway)).toEqual([
    "Cora: session.link-made",
    "Cora: session.opened",
    "ada: session.link-made",
    "ada: session.opened",
    "ada: session.ended",
  ]);
});

test("the use of a session from an address is recorded in the trail once", async ({
  gateway,
  cora,
}) => {
  const browser = await signedIn(gateway, cora.token);
  for (let times = 0; times < 3; times += 1) await greeted(browser);
  const used = async () => (await trail(gateway)).filter((line) => line.endsWith("session.used"));
  await expect.poll(used).toEqual(["Cora: session.used"]);
});

test("a link redirects only to this gateway's own pages", async ({ gateway, cora }) => {
  for (const to of ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:0"]) {
    const { code } = await linkOf(gateway, cora.token);
    const answer = await new Browser(gateway.url).post("/sign-in", { code, to });
    expect(answer.headers.get("location"), to).toBe("/");
  }
});

test("pages run no foreign scripts and can't be framed", async ({ gateway }) => {
  const { headers } = await new Browser(gateway.url).get("/sign-in");
  expect(headers.get("content-security-policy")).toContain("script-src 'self'");
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("referrer-policy")).toBe("same-origin");
});

test("a token for one business opens a session for that business only", async () => {
  const two = await startTestGateway({
    profiles: [profile(), profile({ name: "beta", businessId: "biz_beta" })],
  });
  try {
    const token = await two.token("cora", ["controller"], ["beta"]);
    const theirAdmin = await two.token("ada", ["admin"], ["acme"]);
    const made = await two.call("POST", "/v1/sign-in-links", token);
    await new Browser(two.url).post("/sign-in", { code: SignInLinkBody.parse(made.json).code });
    expect((await two.call("GET", "/v1/sessions", theirAdmin)).json["items"]).toEqual([]);
  } finally {
    await two.stop();
  }
});
