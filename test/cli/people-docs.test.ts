import { expect } from "vitest";
import { Browser } from "../gateway/sign-in/browser.ts";
import { profile, type TestGateway } from "../gateway/support/gateway.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { bindTokens, personPath, readPerson } from "../../src/cli/home/people.ts";
import { writePrivate } from "../../src/cli/home/private-file.ts";
import { sharedGatewayTest } from "../gateway/support/gateway-test.ts";
import { type CliResult, payrun, temporaryFolder } from "./cli.ts";

const test = sharedGatewayTest({ profiles: [profile()] });

const commands = commandsOf("docs/people.md").map(wordsOf);

/** Runs a command with a token on the store's host, for a business that is no sandbox. */
function as(gateway: TestGateway, token: string, words: readonly string[]): Promise<CliResult> {
  const env = {
    PAYRUN_DATABASE_URL: `sqlite:${gateway.folder}/payrun.db`,
    PAYRUN_GATEWAY_URL: gateway.url,
    ...(token === "" ? {} : { PAYRUN_TOKEN: token }),
    PAYMENTS_API_URL: "https://payments.example.com",
    PAYMENTS_API_TOKEN: "x",
    PAYMENTS_BUSINESS_ID: "biz_acme",
  };
  return payrun(words, { env });
}

test("the commands of docs/people.md make two administrators, who create and confirm a token", async ({
  gateway,
}) => {
  const [bootstrap, create, confirm, renew, scoped, list, revoke, ...signIn] = commands;
  const [login, sessions, endSession, ...others] = signIn;
  expect(others).toEqual([]);
  const without = await as(gateway, "", ["doctor"]);
  expect(without.stdout).toMatch(/Administrators.*0 with a token.*token bootstrap/s);
  const first = await as(gateway, "", [...(bootstrap ?? []), "--json"]);
  const { items } = first.json<{ items: { name: string; token: string }[] }>();
  const [ada = "", bea = ""] = items.map(({ token }) => token);
  const again = await as(gateway, "", [...(bootstrap ?? []), "--json"]);
  expect([again.code, again.json<{ error: string }>().error]).toEqual([1, "bootstrapped"]);

  expect((await as(gateway, "", ["doctor"])).stdout).toContain("2 with a token that counts");

  const made = await as(gateway, ada, [...(create ?? []), "--json"]);
  const { id, token, state } = made.json<{ id: string; token: string; state: string }>();
  expect(state).toBe("unconfirmed");
  expect(made.stderr).toContain(`payrun token confirm ${id}`);
  const confirming = [...(confirm ?? []).slice(0, -1), id];
  expect((await as(gateway, ada, confirming)).code).toBe(1);
  expect((await as(gateway, token, ["status"])).stderr).toContain("second administrator");
  expect((await as(gateway, bea, confirming)).code).toBe(0);
  expect((await as(gateway, token, ["status"])).code).toBe(0);

  const renewed = await as(gateway, token, [...(renew ?? []), "--json"]);
  const { token: own } = renewed.json<{ token: string }>();
  expect((await as(gateway, token, ["status"])).code).toBe(1);
  expect((await as(gateway, own, ["status"])).code).toBe(0);

  const { code } = (await as(gateway, own, [...(login ?? []), "--json"])).json<{ code: string }>();
  const browser = new Browser(gateway.url);
  expect((await browser.post("/sign-in", { code })).status).toBe(303);
  const signedIn = await as(gateway, bea, [...(sessions ?? []), "--json"]);
  const { items: open } = signedIn.json<{ items: { id: string; name: string }[] }>();
  expect(open).toMatchObject([{ name: "cora", state: "valid" }]);
  expect((await as(gateway, bea, sessions ?? [])).stdout).toMatch(/cora +link +tok_/);
  const ending = [...(endSession ?? []).slice(0, -1), open[0]?.id ?? ""];
  expect((await as(gateway, bea, ending)).code).toBe(0);
  expect(await (await browser.get("/sign-in")).text()).not.toContain("Signed in");

  expect((await as(gateway, ada, scoped ?? [])).code).toBe(0);
  const { stdout } = await as(gateway, bea, list ?? []);
  expect(stdout).toMatch(/otto +operator +acme/i);
  expect(stdout).not.toContain("payrun_");
  expect((await as(gateway, bea, revoke ?? [])).code).toBe(0);
  expect((await as(gateway, bea, list ?? [])).stdout).toMatch(/otto .*revoked/);
});

test("a token needs an administrator to create it, and the two administrators must differ", async ({
  gateway,
}) => {
  expect((await as(gateway, "", ["token", "create", "eve", "--role", "admin"])).code).toBe(1);
  const one = await as(gateway, "", ["token", "bootstrap", "Jos\u00e9", "jose\u0301"]);
  expect([one.code, one.stderr]).toEqual([2, expect.stringContaining("one person")]);
});

test("a token that is renewed with --as is kept, so that --as goes on working", async ({
  gateway,
}) => {
  const home = temporaryFolder();
  writePrivate(personPath(home, "vic"), `${await gateway.token("vic", ["viewer"])}\n`);
  bindTokens(home, gateway.url);
  const env = { PAYRUN_HOME: home, PAYRUN_GATEWAY_URL: gateway.url };
  const asVic = (...words: readonly string[]) => payrun(["--as", "vic", ...words], { env });
  const renewed = await asVic("token", "renew");
  expect(renewed.code).toBe(0);
  expect(renewed.stderr).toContain(`${home} keeps it in place of the old one`);
  expect(readPerson(home, "vic")).toBe(renewed.stdout.trim());
  expect((await asVic("status")).code).toBe(0);
});
