import { describe, expect } from "vitest";
import type { TestSandbox } from "../support/sandbox.ts";
import { sharedSandboxTest } from "./sandbox-test.ts";

const it = sharedSandboxTest();

function send(
  sandbox: TestSandbox,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  return fetch(`${sandbox.url}${path}`, {
    method: "POST",
    body,
    headers: {
      authorization: `Bearer ${sandbox.business.token}`,
      "content-type": "application/json",
      "idempotency-key": "key",
      ...headers,
    },
  });
}

describe("odd requests get a clear 4xx", () => {
  it.for<[string, string | Uint8Array<ArrayBuffer>]>([
    ["text", "hello"],
    ["half a body", '{"payableId": "x"'],
    ["an empty list", "[]"],
    ["null", "null"],
    ["a number", "1e999"],
    ["bytes that are no UTF-8", new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
    ["a thousand levels", `${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`],
    ["a hundred thousand levels", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["a prototype", '{"__proto__": {"payableId": "x"}, "constructor": 1}'],
    ["a huge number", '{"payableId": "x", "fundingSource": "balance", "amountCents": 1e300}'],
    ["a NUL", '{"payableId": "\\u0000", "fundingSource": "balance"}'],
    ["half a surrogate", '{"payableId": "\\ud800", "fundingSource": "balance"}'],
  ])("an odd request body is refused with a 4xx error: %s", async ([_, body], { sandbox }) => {
    const answer = await send(sandbox, "/v1/payments", body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(await answer.json()).toMatchObject({
      error: expect.any(String),
      message: expect.any(String),
    });
  });

  it("a request with another content type is refused with 415", async ({ sandbox }) => {
    const answer = await send(sandbox, "/v1/payments", "payableId=x", {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(answer.status).toBe(415);
  });

  it("a body over one megabyte is refused with 413, with or without its length", async ({
    sandbox,
  }) => {
    const large = `{"a":"${"x".repeat(1_100_000)}"}`;
    expect((await send(sandbox, "/v1/contacts", large)).status).toBe(413);
    const stream = new Blob([large]).stream();
    const request = new Request(`${sandbox.url}/v1/contacts`, {
      method: "POST",
      body: stream,
      duplex: "half",
      headers: { "content-type": "application/json" },
    } as RequestInit);
    expect((await fetch(request)).status).toBe(413);
  });

  it.for<[string, string]>([
    ["GET", "/v1/nothing"],
    ["DELETE", "/v1/payments"],
    ["GET", "/api/nothing"],
    ["GET", "/v1/contacts/%E0%A4%A"],
    ["GET", "/v1/contacts/%00"],
    ["GET", `/v1/contacts/${"x".repeat(5_000)}`],
    ["GET", "/v1/contacts/..%2f..%2fpayments"],
  ])("%s %s returns 404", async ([method, path], { sandbox }) => {
    const answer = await sandbox.api(method, path);
    expect(answer).toMatchObject({ status: 404, body: { error: "not_found" } });
  });

  it("an unknown address without a token returns 401 under /v1 and 404 elsewhere", async ({
    sandbox,
  }) => {
    expect((await sandbox.api("GET", "/v1/nothing", { token: null })).status).toBe(401);
    expect((await sandbox.api("GET", "/nothing", { token: null })).status).toBe(404);
  });

  it.for([
    ["page=99999999999999999999", 400],
    ["page=1e3", 400],
    ["page=999999999999", 422],
    ["page=-1", 422],
    ["page=", 400],
    ["page=1000000000&pageSize=100", 200],
    ["createdAfter=2029-13-45", 422],
  ])("listing payments with ?%s returns %i", async ([query, status], { sandbox }) => {
    expect((await sandbox.api("GET", `/v1/payments?${query}`)).status).toBe(status);
  });

  it("an idempotency key with odd characters still replays its response", async ({ sandbox }) => {
    const body = JSON.stringify({ displayName: "Odd" });
    const headers = { "idempotency-key": "';DROP TABLE--\u00e9 {}" };
    const first = await send(sandbox, "/v1/contacts", body, headers);
    const second = await send(sandbox, "/v1/contacts", body, headers);
    expect([first.status, await first.text()]).toEqual([second.status, await second.text()]);
  });

  it("the service keeps working after a request that is cut off halfway", async ({ sandbox }) => {
    const abort = new AbortController();
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"displayName":'));
        setTimeout(() => abort.abort(), 50);
      },
    });
    await expect(
      fetch(`${sandbox.url}/v1/contacts`, {
        method: "POST",
        body: stream,
        duplex: "half",
        signal: abort.signal,
        headers: { authorization: `Bearer ${sandbox.business.token}` },
      } as RequestInit),
    ).rejects.toThrow("aborted");
    expect((await sandbox.api("GET", "/v1/contacts")).status).toBe(200);
  });
});
