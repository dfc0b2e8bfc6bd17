import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { at, call, documents, officer, pdf, png, send, upload } from "./kyb.ts";

const it = sandboxTest("blank");

it("a business shows its verification, its logo and what affects its payments", async ({
  sandbox,
}) => {
  const answer = await call(sandbox, "GET", "");
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    id: sandbox.business.businessId,
    organizationId: expect.stringMatching(/^org_/),
    name: "Blank Company",
    alias: null,
    entityType: null,
    verificationStatus: "verified",
    logo: null,
    canPay: true,
    setup: "complete",
    paymentsLocked: false,
    features: { balance: true, acceleratedClearing: true },
    balanceStatus: "open",
    dashboardUrl: expect.stringMatching(/^https:/),
    createdAt: expect.any(String),
    updatedAt: null,
  });
});

it("the list has all businesses of the token's organization and no others", async ({ sandbox }) => {
  await sandbox.control.reset({
    businesses: [
      { name: "North", organization: "group" },
      { name: "Elsewhere" },
      { name: "South", organization: "group", verification: "pending" },
    ],
  });
  const { status, body } = await sandbox.api<{ items: Json[] }>("GET", "/api/businesses");
  expect(status).toBe(200);
  expect(body.items).toMatchObject([
    { name: "North", verificationStatus: "verified" },
    { name: "South", verificationStatus: "pending" },
  ]);
  const south = sandbox.businesses[2]?.businessId;
  expect((await sandbox.api("GET", at(sandbox, "", south))).body).toMatchObject({ name: "South" });
});

it("every operation on another organization's business returns 404", async ({ sandbox }) => {
  await sandbox.control.reset("two-businesses");
  const other = sandbox.businesses[1]?.businessId;
  const calls: [string, string, unknown?][] = [
    ["GET", ""],
    ["PATCH", "/alias", { alias: "Mine" }],
    ["DELETE", "/logo"],
    ["GET", "/balance"],
    ["POST", "/withdraw-balance", { amount: 1, fundingSourceId: "linked_bank" }],
    ["GET", "/tax"],
    ["PATCH", "/tax", { ein: "123456789" }],
    ["GET", "/tax/detailed"],
    ["PATCH", "/tax/signature", { signerName: "A", signedAt: "2026-01-01" }],
    ["GET", "/officers"],
    ["POST", "/officers", officer],
    [
      "POST",
      "/officers/certify-beneficial-ownership",
      { certifierName: "A", certifiedAt: "2026-01-01" },
    ],
  ];
  for (const id of [other, "biz_none"]) {
    for (const [method, rest, body] of calls) {
      const answer = await sandbox.api(method, at(sandbox, rest, id), { body });
      expect(answer, `${method} ${rest}`).toMatchObject({
        status: 404,
        body: { error: "not_found" },
      });
    }
    for (const answer of [
      await upload(sandbox, "/logo", png, {}, id),
      await upload(sandbox, documents, pdf, { documentType: "einLetter" }, id),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: "not_found" } });
    }
  }
});

it("an alias is trimmed, and an empty, too long or missing one is refused", async ({ sandbox }) => {
  const set = await call(sandbox, "PATCH", "/alias", { alias: "  Blank & Co.  " });
  expect(set).toMatchObject({ status: 200, body: { alias: "Blank & Co." } });
  expect(set.body["updatedAt"]).toEqual(expect.any(String));
  expect((await call(sandbox, "PATCH", "/alias", { alias: "x".repeat(100) })).status).toBe(200);
  const refusals: [unknown, number][] = [
    [{}, 400],
    [{ alias: null }, 400],
    [{ alias: 7 }, 400],
    [{ alias: "  " }, 422],
    [{ alias: "x".repeat(101) }, 422],
  ];
  for (const [body, status] of refusals) {
    const answer = await call(sandbox, "PATCH", "/alias", body);
    expect(answer, JSON.stringify(body)).toMatchObject({
      status,
      body: { error: "validation_error", details: { field: "alias" } },
    });
  }
});

it("a logo keeps its bytes and type, can be replaced, and can be removed repeatedly", async ({
  sandbox,
}) => {
  const first = await upload(sandbox, "/logo", png);
  expect(first).toMatchObject({
    status: 200,
    body: { logo: { contentType: "image/png", sizeBytes: png.length } },
  });
  expect(await logoBytes(sandbox)).toEqual(Buffer.from(png));
  const gif = new TextEncoder().encode("GIF89a-and-more");
  await upload(sandbox, "/logo", gif);
  expect(await logoBytes(sandbox)).toEqual(Buffer.from(gif));
  expect((await call(sandbox, "GET", "")).body).toMatchObject({
    logo: { contentType: "image/gif" },
  });
  for (let i = 0; i < 2; i += 1) {
    const removed = await call(sandbox, "DELETE", "/logo");
    expect([removed.status, removed.text]).toEqual([204, ""]);
  }
  expect((await call(sandbox, "GET", "")).body).toMatchObject({ logo: null });
});

async function logoBytes(sandbox: TestSandbox): Promise<Buffer> {
  const response = await fetch(`${sandbox.url}/sandbox/businesses/${sandbox.business.businessId}`);
  const { logo } = (await response.json()) as { logo: { base64: string } };
  return Buffer.from(logo.base64, "base64");
}

it("a logo that is no image, empty, too large or not a file is refused", async ({ sandbox }) => {
  const field = { error: "validation_error", details: { field: "file" } };
  const big = (size: number) => Buffer.concat([png], size);
  const svg = new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'/>");
  expect(await upload(sandbox, "/logo", svg)).toMatchObject({ status: 422, body: field });
  expect(await upload(sandbox, "/logo", new Uint8Array())).toMatchObject({
    status: 422,
    body: field,
  });
  expect((await upload(sandbox, "/logo", big(1_000_000))).status).toBe(200);
  expect(await upload(sandbox, "/logo", big(1_000_001))).toMatchObject({
    status: 422,
    body: field,
  });
  expect(await upload(sandbox, "/logo", big(11_000_000))).toMatchObject({
    status: 413,
    body: { error: "payload_too_large" },
  });
  const text = new FormData();
  text.set("file", "not a file");
  expect(await send(sandbox, "/logo", text)).toMatchObject({ status: 400, body: field });
  const other = new FormData();
  other.set("logo", new Blob([png]));
  expect(await send(sandbox, "/logo", other)).toMatchObject({ status: 400, body: field });
});

it("an upload of another content type returns 415, and a broken form 400", async ({ sandbox }) => {
  const error = { error: "validation_error" };
  const json = { "content-type": "application/json" };
  expect(await send(sandbox, "/logo", "{}", json)).toMatchObject({ status: 415, body: error });
  const twice = new FormData();
  twice.append("file", new Blob([png]));
  twice.append("file", new Blob([png]));
  expect(await send(sandbox, "/logo", twice)).toMatchObject({ status: 400, body: error });
  const broken: [string, string | undefined][] = [
    ["multipart/form-data", "--x\r\n\r\n"],
    ["multipart/form-data; boundary=x", "no boundary anywhere"],
    ["multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=file"],
    ["multipart/form-data; boundary=x", undefined],
  ];
  for (const [type, body] of broken) {
    const answer = await send(sandbox, "/logo", body, { "content-type": type });
    expect(answer, String(body)).toMatchObject({ status: 400, body: error });
  }
  const many = new FormData();
  for (let i = 0; i < 60; i += 1) many.set(`field${i}`, "x");
  expect(await send(sandbox, "/logo", many)).toMatchObject({ status: 400, body: error });
});

it("setting the alias takes no idempotency key", async ({ sandbox }) => {
  const body = { alias: "Once" };
  const answer = await sandbox.api("PATCH", at(sandbox, "/alias"), { body, key: "k" });
  expect(answer).toMatchObject({
    status: 400,
    body: { error: "validation_error", details: { field: "Idempotency-Key" } },
  });
});

it("a business can be read with businesses:read or :write, and changed with :write", async ({
  sandbox,
}) => {
  const token = async (...scopes: string[]) => sandbox.control.token(undefined, { scopes });
  const reader = await token("businesses:read");
  const writer = await token("businesses:write");
  const stranger = await token("payments:read");
  const get = async (bearer: string) =>
    (await sandbox.api("GET", at(sandbox), { token: bearer })).status;
  const patch = async (bearer: string) =>
    (await sandbox.api("PATCH", at(sandbox, "/alias"), { token: bearer, body: { alias: "A" } }))
      .status;
  expect([await get(reader), await get(writer), await get(stranger)]).toEqual([200, 200, 403]);
  expect([await patch(reader), await patch(writer), await patch(stranger)]).toEqual([
    403, 200, 403,
  ]);
});
