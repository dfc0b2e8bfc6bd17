import { afterEach, beforeEach, expect, test } from "vitest";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { type SmtpReceiver, smtpReceiver } from "../../notices/receivers.ts";
import { profile, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { Browser } from "./browser.ts";

let gateway: TestGateway;
let smtp: SmtpReceiver;

beforeEach(async () => {
  smtp = await smtpReceiver();
  gateway = await startTestGateway({
    profiles: [withPeople("acme", { Cora: "cora@acme.example" })],
  });
});
afterEach(() => gateway.stop());

function withPeople(name: string, people: Readonly<Record<string, string>>): BusinessProfile {
  const notify = { smtp: { url: smtp.url, from: "payrun@acme.example" }, channels: [], people };
  return profile({ name, businessId: `biz_${name}`, notify });
}

function ask(address: string, browser = new Browser(gateway.url)): Promise<Response> {
  return browser.post("/sign-in/mail", { address, to: "/" });
}

test("a person's own address gets a link that signs in like their token", async () => {
  await gateway.token("cora", ["controller"]);
  const browser = new Browser(gateway.url);
  expect((await ask("CORA@acme.example", browser)).status).toBe(200);
  await expect.poll(() => smtp.mails.length).toBe(1);
  const [mail] = smtp.mails;
  expect(mail?.to).toEqual(["cora@acme.example"]);
  const code = /\/sign-in#([\w-]{43})/.exec((mail?.source ?? "").replaceAll("=\r\n", ""))?.[1];
  expect((await browser.post("/sign-in", { code: code ?? "" })).status).toBe(303);
  expect(await (await browser.get("/sign-in")).text()).toContain("Signed in as cora");
});

test("the answer never reveals whether an address is known", async () => {
  await gateway.token("cora", ["controller"]);
  const known = await (await ask("cora@acme.example")).text();
  const unknown = await (await ask("mallory@acme.example")).text();
  expect(unknown).toBe(known);
  await expect.poll(() => smtp.mails.length).toBe(1);
});

test("a person without a valid token gets no link", async () => {
  await ask("cora@acme.example");
  await gateway.token("cora", ["controller"], ["beta"]);
  await ask("cora@acme.example");
  await gateway.token("cora", ["controller"]);
  await ask("cora@acme.example");
  await expect.poll(() => smtp.mails.length).toBe(1);
});

test("an address is mailed at most five times in ten minutes", async () => {
  const answers = [];
  for (let times = 0; times < 6; times += 1) answers.push((await ask("x@acme.example")).status);
  expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
});

test("one network address can cause at most twenty mails in ten minutes", async () => {
  const answers = [];
  for (let no = 0; no < 21; no += 1) answers.push((await ask(`x${no}@acme.example`)).status);
  expect(answers.slice(0, 20)).not.toContain(429);
  expect(answers[20]).toBe(429);
});

test("a mail server that is down is logged, without the person's address", async () => {
  await gateway.token("cora", ["controller"]);
  smtp.failWith = 451;
  await ask("cora@acme.example");
  await expect.poll(() => gateway.logged.join("\n")).toContain("a link to sign in was not mailed");
  expect(gateway.logged.join("\n")).not.toContain("cora@acme");
});
