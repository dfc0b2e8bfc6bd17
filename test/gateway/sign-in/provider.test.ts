import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { listAudit, STORE_TRAIL } from "../../../src/store/audit/audit.ts";
import type { Identity } from "../../../src/config/identities.ts";
import { freePort } from "../../support/free-port.ts";
import { startProxy, useProxies } from "../../support/proxy.ts";
import { profile, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { Browser, fieldOf } from "./browser.ts";
import { type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";

const CLIENT = { clientId: "payrun", clientSecret: "a-secret-of-the-client" };

let provider: IdentityProvider;
let issuer: string;
let gateway: TestGateway;
let port: number;

beforeAll(async () => {
  port = await freePort();
  provider = await startIdentityProvider(CLIENT, `http://127.0.0.1:${port}`);
  ({ issuer } = provider);
});
afterAll(() => provider.stop());
afterEach(() => gateway.stop());

function person(subject: string, roles: readonly string[], name = "Cora"): Identity {
  return { issuer, subject, name, roles };
}

async function start(...identities: readonly (readonly Identity[])[]): Promise<void> {
  const profiles = identities.map((of, at) =>
    profile({
      name: `b${at}`,
      businessId: `biz_${at}`,
      identities: of,
      signIn: { provider: { issuer, ...CLIENT } },
    }),
  );
  gateway = await startTestGateway({ profiles, port });
}

/** Follows a browser to the provider, signs in there, and returns the way back. */
async function atProvider(
  browser: Browser,
  account: string,
  path = "/sign-in/provider?business=b0",
) {
  const there = (await browser.get(path)).headers.get("location") ?? "";
  expect(there).toContain(`${issuer}/auth`);
  return (await provider.letIn(there, account)).slice(gateway.url.length);
}

async function pageOf(browser: Browser, path = "/sign-in"): Promise<string> {
  return (await browser.get(path)).text();
}

test("a person whom a profile names by issuer and subject signs in at the company's provider", async () => {
  await start([person("00u1", ["controller"])]);
  const browser = new Browser(gateway.url);
  expect(await pageOf(browser)).toContain("/sign-in/provider?business=b0");
  const back = await atProvider(browser, "00u1", "/sign-in/provider?business=b0&to=/holds");
  const answer = await browser.get(back);
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/holds"]);
  expect(await pageOf(browser)).toContain("Signed in as Cora");
  const trail = await listAudit(gateway.store.db, { businessId: STORE_TRAIL });
  expect(trail.find(({ action }) => action === "session.opened")).toMatchObject({
    actor: "Cora",
    details: { way: "provider", issuer, subject: "00u1", businesses: ["b0"] },
  });
});

test("an e-mail address or another subject signs nobody in", async () => {
  await start([person("00u1", ["controller"])]);
  const browser = new Browser(gateway.url);
  const answer = await browser.get(await atProvider(browser, "00u2"));
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain("00u2");
  expect(browser.set.join()).not.toContain("payrun_session");
});

test("a sign-in that one browser began works in no other browser, and only once", async () => {
  await start([person("00u1", ["controller"])]);
  const browser = new Browser(gateway.url);
  const back = await atProvider(browser, "00u1");
  const other = new Browser(gateway.url);
  expect((await other.get(back)).status).toBe(401);
  await other.get("/sign-in/provider?business=b0");
  expect((await other.get(back)).status).toBe(401);
  expect((await browser.get(back)).status).toBe(303);
  expect((await browser.get(back)).status).toBe(401);
});

test.each(["state", "nonce", "verifier"])(
  "an answer that doesn't match the %s of this browser's sign-in signs nobody in",
  async (what) => {
    await start([person("00u1", ["controller"])]);
    const browser = new Browser(gateway.url);
    const back = await atProvider(browser, "00u1");
    const [, kept = ""] = /payrun_sign_in=([^;]+)/.exec(browser.set.join()) ?? [];
    const flow = JSON.parse(Buffer.from(kept, "base64url").toString()) as Record<string, string>;
    expect(flow[what]).toMatch(/^[\w-]{43}$/);
    const other = Buffer.from(JSON.stringify({ ...flow, [what]: "x".repeat(43) }));
    const cookie = `payrun_sign_in=${other.toString("base64url")}`;
    const answer = await fetch(`${gateway.url}${back}`, { headers: { cookie } });
    expect(answer.status).toBe(401);
    expect(answer.headers.getSetCookie().join()).not.toContain("payrun_session");
  },
);

test("a person with different roles in several businesses chooses which to act under", async () => {
  await start(
    [person("00u1", ["controller"])],
    [person("00u1", ["viewer"])],
    [person("00u1", ["controller"])],
  );
  const browser = new Browser(gateway.url);
  const page = await (await browser.get(await atProvider(browser, "00u1"))).text();
  expect(page).toContain("Cora, controller for b0, b2");
  expect(page).toContain("Cora, viewer for b1");
  await browser.post("/sign-in", { code: fieldOf(page, "code"), to: "/" });
  expect(await pageOf(browser)).toContain("Roles: controller");
});

test("a session changes and ends with the person's entry in the profile", async () => {
  const identities = [person("00u1", ["controller"])];
  await start(identities);
  const browser = new Browser(gateway.url);
  await browser.get(await atProvider(browser, "00u1"));
  identities[0] = person("00u1", ["viewer"]);
  expect(await pageOf(browser)).toContain("Roles: viewer");
  identities.length = 0;
  expect(await pageOf(browser)).not.toContain("Signed in as");
});

test("signing in again makes the provider authenticate the person again", async () => {
  await start([person("00u1", ["controller"])]);
  const browser = new Browser(gateway.url);
  const answer = await browser.get("/sign-in/provider?business=b0&again=true");
  const { searchParams } = new URL(answer.headers.get("location") ?? "");
  expect(searchParams.get("max_age")).toBe("0");
  expect(searchParams.get("prompt")).toBe("login");
  expect(searchParams.get("code_challenge_method")).toBe("S256");
});

test("a provider that rejects our secret is logged, without the secret and the code", async () => {
  const clientSecret = "a-secret-of-another-client";
  const signIn = { provider: { issuer, ...CLIENT, clientSecret } };
  gateway = await startTestGateway({ profiles: [profile({ name: "b0", signIn })], port });
  const browser = new Browser(gateway.url);
  const back = await atProvider(browser, "00u1");
  expect((await browser.get(back)).status).toBe(401);
  const logged = gateway.logged.join("\n");
  expect(logged).toContain("a sign-in at a provider failed");
  const code = new URL(back, gateway.url).searchParams.get("code") ?? "";
  for (const secret of [clientSecret, code]) {
    expect(secret.length).toBeGreaterThan(15);
    expect(logged).not.toContain(secret);
  }
});

test("if a provider can't be reached, the page says so and how to sign in without it", async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const signIn = { provider: { issuer: nobody, ...CLIENT } };
  gateway = await startTestGateway({ profiles: [profile({ signIn })], port });
  const answer = await new Browser(gateway.url).get("/sign-in/provider?business=acme");
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("payrun login");
});

test("a provider elsewhere is asked through the environment's proxy, one on this machine isn't", async () => {
  const proxy = await startProxy();
  useProxies({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url });
  const signIn = { provider: { issuer: "https://login.example", ...CLIENT } };
  const near = profile({ signIn: { provider: { issuer, ...CLIENT } } });
  const far = profile({ name: "far", businessId: "biz_far", signIn });
  gateway = await startTestGateway({ profiles: [near, far] });
  const browser = new Browser(gateway.url);
  expect((await browser.get("/sign-in/provider?business=acme")).status).toBe(302);
  expect(proxy.asked).toEqual([]);
  expect((await browser.get("/sign-in/provider?business=far")).status).toBe(502);
  expect(proxy.asked).toEqual(["CONNECT login.example:443"]);
});
