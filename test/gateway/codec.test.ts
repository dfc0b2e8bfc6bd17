import { randomBytes } from "node:crypto";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { expect } from "vitest";
import { codecOf } from "../../src/temporal/codec.ts";
import { Browser } from "./sign-in/browser.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { profile, type TestGateway } from "./support/gateway.ts";

const UI = "https://temporal.example.com";
const KEY = { id: "2026-01", key: randomBytes(32) };
const codec = codecOf({ encryptionKeys: [KEY], encryptsHistories: () => true });

const test = gatewayTest({
  profiles: [profile(), profile({ name: "other", businessId: "biz_other" })],
  keys: [KEY],
  temporalUiOrigins: [UI],
}).extend("token", ({ gateway }) => gateway.token("Vera", ["viewer"]));

interface Payloads {
  readonly payloads: readonly { metadata: Record<string, string>; data: string }[];
}

async function sealed(...values: readonly unknown[]): Promise<Payloads> {
  const plain = values.map((value) => defaultPayloadConverter.toPayload(value));
  return { payloads: (await codec.encode(plain)).map(toJson) };
}

function toJson({ metadata, data }: Payload) {
  const entries = Object.entries(metadata ?? {});
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  return {
    metadata: Object.fromEntries(entries.map(([key, value]) => [key, base64(value)])),
    data: base64(data ?? new Uint8Array()),
  };
}

const textsOf = ({ payloads }: Payloads): string[] =>
  payloads.map(({ data }) => Buffer.from(data, "base64").toString("utf8"));

function ask(
  gateway: TestGateway,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<Response> {
  return fetch(`${gateway.url}/codec/decode`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

test("Temporal's UI decrypts histories with a person's token, and the log says whose", async ({
  gateway,
  token,
}) => {
  const headers = { origin: UI, authorization: `Bearer ${token}`, "x-namespace": "default" };
  const answer = await ask(gateway, headers, await sealed({ vendor: "Blue Bottle" }, "second"));
  expect(answer.status).toBe(200);
  expect(answer.headers.get("access-control-allow-origin")).toBe(UI);
  expect(answer.headers.get("access-control-allow-credentials")).toBe("true");
  expect(textsOf((await answer.json()) as Payloads)).toEqual([
    '{"vendor":"Blue Bottle"}',
    '"second"',
  ]);
  const line = gateway.logged.find((each) => each.startsWith("histories decrypted"));
  expect(line).toMatch(/"name":"Vera".*"payloads":2/);
  expect(line).not.toContain("Blue Bottle");
});

test("a preflight request is answered only for a listed origin", async ({ gateway }) => {
  const preflight = (origin: string) =>
    fetch(`${gateway.url}/codec/decode`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-namespace",
      },
    });
  const ours = await preflight(UI);
  expect(ours.headers.get("access-control-allow-origin")).toBe(UI);
  expect(ours.headers.get("access-control-allow-headers")).toMatch(/authorization/i);
  for (const origin of [
    "https://evil.example",
    `${UI}.evil.example`,
    "http://temporal.example.com",
  ]) {
    expect((await preflight(origin)).headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("a signed-in person's browser decrypts histories from a listed origin, and from no other", async ({
  gateway,
  token,
}) => {
  const link = await gateway.call("POST", "/v1/sign-in-links", token);
  const code = String(link.json["url"]).split("#")[1] ?? "";
  const browser = new Browser(gateway.url);
  expect((await browser.post("/sign-in", { code })).status).toBe(303);
  const { cookie } = browser;
  const body = await sealed("secret");
  const answer = await ask(gateway, { origin: UI, cookie }, body);
  expect(textsOf((await answer.json()) as Payloads)).toEqual(['"secret"']);
  expect((await ask(gateway, { origin: "https://evil.example", cookie }, body)).status).toBe(401);
  expect((await ask(gateway, { cookie }, body)).status).toBe(401);
});

test("histories are not decrypted without a token for every business", async ({ gateway }) => {
  const body = await sealed("secret");
  expect((await ask(gateway, { origin: UI }, body)).status).toBe(401);
  const narrow = await gateway.token("Nora", ["admin"], ["acme"]);
  const refused = await ask(gateway, { authorization: `Bearer ${narrow}` }, body);
  expect(refused.status).toBe(403);
  expect(await refused.text()).not.toContain("secret");
});

test("a payload that can't be decrypted, or is plain, is returned unchanged beside the others", async ({
  gateway,
  token,
}) => {
  const strange = codecOf({
    encryptionKeys: [{ id: "elsewhere", key: randomBytes(32) }],
    encryptsHistories: () => true,
  });
  const [foreign = {}] = await strange.encode([defaultPayloadConverter.toPayload("theirs")]);
  const plain = toJson(defaultPayloadConverter.toPayload("plain"));
  const { payloads } = await sealed("ours");
  const answer = await ask(
    gateway,
    { authorization: `Bearer ${token}` },
    {
      payloads: [toJson(foreign), plain, ...payloads],
    },
  );
  const read = (await answer.json()) as Payloads;
  expect(read.payloads.slice(0, 2)).toEqual([toJson(foreign), plain]);
  expect(textsOf(read)[2]).toBe('"ours"');
  expect(gateway.logged.join("\n")).toContain("elsewhere");
});

test("a body without payloads, as Temporal's tools send for an empty list, gets an empty list", async ({
  gateway,
  token,
}) => {
  const answer = await ask(gateway, { authorization: `Bearer ${token}` }, {});
  expect(await answer.json()).toEqual({ payloads: [] });
});

test("a body that is not a list of payloads is refused with the reason", async ({
  gateway,
  token,
}) => {
  for (const body of [{ payloads: "" }, { payloads: [{ data: "!!" }] }, []]) {
    const answer = await ask(gateway, { authorization: `Bearer ${token}` }, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: "validation_error" });
  }
});
