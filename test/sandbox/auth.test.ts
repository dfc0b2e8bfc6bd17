import { expect } from "vitest";
import { sandboxTest } from "./sandbox-test.ts";
import { makeBill, makeVendor } from "./world.ts";

const it = sandboxTest("two-businesses");

const unauthorized = { status: 401, body: { statusCode: 401, message: "Unauthorized" } };
const forbidden = { status: 403, body: { statusCode: 403, message: "Forbidden" } };

it("tokens are JWTs with an expiry, a business and scopes", ({ sandbox }) => {
  const [header, payload, signature] = sandbox.business.token.split(".");
  expect(signature).toBeTruthy();
  const decode = (part = "") => JSON.parse(Buffer.from(part, "base64url").toString()) as object;
  expect(decode(header)).toMatchObject({ alg: "HS256" });
  expect(decode(payload)).toMatchObject({
    businessId: sandbox.business.businessId,
    exp: expect.any(Number),
    scopes: expect.arrayContaining(["payments:initiate"]),
  });
});

it("a missing, malformed or forged token, or another scheme, gets a 401", async ({ sandbox }) => {
  const { token } = sandbox.business;
  const [header, payload] = token.split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
  const bad = [null, "", "x", `${token}x`, `${header}.${payload}.`, `${none}.${payload}.`];
  for (const attempt of bad) {
    expect(await sandbox.api("GET", "/v1/contacts", { token: attempt })).toMatchObject(
      unauthorized,
    );
  }
  const basic = await fetch(`${sandbox.url}/v1/contacts`, {
    headers: { authorization: `Basic ${token}` },
  });
  expect(basic.status).toBe(401);
});

it("a token expires by the wire clock, whatever the bank clock says", async ({ sandbox }) => {
  await sandbox.control.advance("P30D");
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(200);
  const short = await sandbox.control.token(undefined, { expiresInSeconds: 600 });
  await sandbox.control.advanceWire("PT11M");
  expect(await sandbox.api("GET", "/v1/contacts", { token: short })).toMatchObject(unauthorized);
  expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(200);
  await sandbox.control.advanceWire("PT50M");
  expect(await sandbox.api("GET", "/v1/contacts")).toMatchObject(unauthorized);
  const fresh = await sandbox.control.token();
  expect((await sandbox.api("GET", "/v1/contacts", { token: fresh })).status).toBe(200);
});

it("a token without the operation's scope gets a 403 before the request is checked", async ({
  sandbox,
}) => {
  const token = await sandbox.control.token(undefined, { scopes: ["contacts:read"] });
  const calls: [string, string][] = [
    ["POST", "/v1/payments"],
    ["GET", "/v1/payments"],
    ["GET", "/v1/payables"],
    ["GET", "/v1/balance"],
    ["GET", "/v1/bank-accounts"],
    ["GET", "/v1/funding-sources"],
    ["POST", "/v1/contacts"],
  ];
  for (const [method, path] of calls) {
    expect(await sandbox.api(method, path, { token })).toMatchObject(forbidden);
  }
  expect((await sandbox.api("GET", "/v1/contacts", { token })).status).toBe(200);
});

it.for<[string, string, string]>([
  ["GET", "/v1/payments", "payables:read"],
  ["GET", "/v1/payments", "payments:read"],
  ["GET", "/v1/funding-sources", "payments:initiate"],
  ["GET", "/v1/funding-sources", "bank-accounts:write"],
  ["GET", "/v1/balance", "balance:read"],
])("%s %s is open to a token with the scope %s", async ([method, path, scope], { sandbox }) => {
  const token = await sandbox.control.token(undefined, { scopes: [scope] });
  expect((await sandbox.api(method, path, { token })).status).toBe(200);
});

it("funding sources show the available balance only to a token that may read it", async ({
  sandbox,
}) => {
  const available = async (scopes: string[]) => {
    const token = await sandbox.control.token(undefined, { scopes });
    const { body } = await sandbox.api<{ items: { availableCents: number | null }[] }>(
      "GET",
      "/v1/funding-sources",
      { token },
    );
    return body.items[0]?.availableCents;
  };
  expect(await available(["bank-accounts:read"])).toBeNull();
  expect(await available(["bank-accounts:read", "payments:read"])).toBe(100_000_000);
  expect(await available(["bank-accounts:read", "balance:read"])).toBe(100_000_000);
});

it("another organization's resources return 404 and are not listed", async ({ sandbox }) => {
  const contactId = await makeVendor(sandbox);
  const payableId = await makeBill(sandbox, { contactId });
  const { body } = await sandbox.api<{ items: { id: string }[] }>("GET", "/v1/bank-accounts");
  const token = sandbox.businesses[1]?.token ?? "";
  const paths: [string, string][] = [
    ["GET", `/v1/contacts/${contactId}`],
    ["PATCH", `/v1/contacts/${contactId}`],
    ["POST", `/v1/contacts/${contactId}/archive`],
    ["GET", `/v1/payables/${payableId}`],
    ["POST", `/v1/payables/${payableId}/submit`],
    ["GET", `/v1/bank-accounts/${body.items[0]?.id}`],
  ];
  for (const [method, path] of paths) {
    const answer = await sandbox.api(method, path, {
      token,
      ...(method === "PATCH" && { body: { displayName: "Mine" } }),
    });
    expect(answer).toMatchObject({ status: 404, body: { error: "not_found" } });
  }
  const list = await sandbox.api("GET", "/v1/contacts", { token });
  expect(list.body["totalCount"]).toBe(0);
});

it("a reset invalidates the tokens of the businesses that it removes", async ({ sandbox }) => {
  const { token } = sandbox.business;
  await sandbox.control.reset("blank");
  expect(await sandbox.api("GET", "/v1/contacts", { token })).toMatchObject(unauthorized);
});
