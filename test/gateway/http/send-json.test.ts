import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { setRunPhase } from "../../../src/store/runs/runs.ts";
import { until } from "../../support/waits.ts";
import { gatewayTest } from "../support/gateway-test.ts";
import type { TestGateway } from "../support/gateway.ts";
import { planLine, seedRun } from "../support/rows.ts";

const BILLS = Array.from({ length: 59 }, (_, index) => planLine(`p${index}`));

const test = gatewayTest()
  .extend("run", { auto: true }, ({ gateway }) => seedRun(gateway.store, { lines: BILLS }))
  .extend("path", ({ run }) => `/v1/runs/${encodeURIComponent(run.runId)}`)
  .extend("viewer", ({ gateway }) => gateway.token("vic", ["viewer"]));

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request and returns the response as it came, without taking it apart. */
async function raw(
  { url }: Pick<TestGateway, "url">,
  path: string,
  token: string,
  { method = "GET", body, headers = {} }: Sent = {},
) {
  const text = body === undefined ? "" : JSON.stringify(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const all = { authorization: `Bearer ${token}`, ...json, ...headers };
    const sent = request(`${url}${path}`, { method, headers: all }, resolve);
    sent.on("error", reject);
    sent.end(text);
  });
  const got: Readonly<Record<string, unknown>> = response.headers;
  const { statusCode: status } = response;
  const bytes = await buffer(response);
  const tag = got["etag"] as string | undefined;
  return { status, headers: got, bytes, tag, encoding: got["content-encoding"] };
}

const nowIn = (bytes: Buffer) => (JSON.parse(bytes.toString()) as { readonly now: string }).now;

describe("a read again", () => {
  test("a read that says which answer it has gets 304 without a body while nothing else is so", async ({
    gateway,
    path,
    run,
    viewer,
  }) => {
    const first = await raw(gateway, path, viewer);
    expect(first).toMatchObject({ status: 200, tag: expect.stringMatching(/^W\/"[\w-]{43}"$/) });
    expect(first.headers).toMatchObject({
      "cache-control": "private, no-cache",
      vary: "Authorization, Accept-Encoding",
    });
    const tag = first.tag ?? "";
    const have = (known: string) =>
      raw(gateway, path, viewer, { headers: { "if-none-match": known } });
    for (const known of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
      const again = await have(known);
      expect([again.status, again.bytes.length, again.tag], known).toEqual([304, 0, tag]);
      expect(again.headers).toMatchObject({
        "cache-control": "private, no-cache",
        vary: "Authorization, Accept-Encoding",
      });
      expect(again.headers).not.toHaveProperty("content-type");
    }
    expect((await have('"other"')).status).toBe(200);
    await setRunPhase(gateway.store.db, run.runId, { phase: "paying", waitingFor: "answers" });
    const changed = await have(tag);
    expect(changed.status).toBe(200);
    expect(changed.tag).not.toBe(tag);
  });

  test("the time that passes makes no new answer, although answers say what time it is", async ({
    gateway,
    path,
    viewer,
  }) => {
    const first = await raw(gateway, path, viewer);
    const later = await until(
      () => raw(gateway, path, viewer),
      ({ bytes }) => nowIn(bytes) !== nowIn(first.bytes),
    );
    expect(later.tag).toBe(first.tag);
  });

  test("a tag says nothing to another principal, and a token that was revoked gets 401", async ({
    gateway,
    path,
    viewer,
  }) => {
    const { tag = "" } = await raw(gateway, path, viewer);
    const other = await gateway.token("otto", ["viewer"]);
    const headers = { "if-none-match": tag };
    const theirs = await raw(gateway, path, other, { headers });
    expect(theirs.status).toBe(200);
    expect(theirs.tag).not.toBe(tag);
    await gateway.store.db.updateTable("tokens").set({ revoked_at_ms: 1 }).execute();
    for (const known of [tag, "*"]) {
      const refused = await raw(gateway, path, viewer, { headers: { "if-none-match": known } });
      expect([refused.status, refused.tag]).toEqual([401, undefined]);
      expect(refused.headers["cache-control"]).toBe("no-store");
    }
  });
});

describe("a long answer", () => {
  test.for([
    ["gzip", "gzip"],
    ["br", "br"],
    ["deflate, gzip;q=0.5, br;q=0.9", "br"],
    ["gzip;q=0.9, br;q=0.1", "gzip"],
    ["*", "br"],
    ["br;q=0, gzip", "gzip"],
    ["gzip;q=0", undefined],
    ["identity", undefined],
    ["deflate", undefined],
  ])(
    "a client that takes “%s” gets a long answer as %s, of the same content and tag",
    async ([accepted, encoding], { gateway, path, viewer }) => {
      const plain = await raw(gateway, path, viewer);
      expect(plain).toMatchObject({ status: 200, encoding: undefined });
      expect(plain.bytes.length).toBeGreaterThan(8_192);
      const headers = { "accept-encoding": accepted ?? "" };
      const packed = await raw(gateway, path, viewer, { headers });
      expect([packed.encoding, packed.tag]).toEqual([encoding, plain.tag]);
      const unpacks: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
        ...{ gzip: gunzipSync, br: brotliDecompressSync },
      };
      const unpack = unpacks[encoding ?? ""] ?? ((bytes: Buffer) => bytes);
      const clock = /"now":"[^"]*"/;
      expect(unpack(packed.bytes).toString().replace(clock, "")).toBe(
        plain.bytes.toString().replace(clock, ""),
      );
      expect(packed.headers["content-length"]).toBe(String(packed.bytes.length));
      if (encoding !== undefined) {
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 8);
      }
    },
  );

  test("HEAD has the headers of the answer, and no body", async ({ gateway, path, viewer }) => {
    const headers = { "accept-encoding": "gzip" };
    const whole = await raw(gateway, path, viewer, { headers });
    const head = await raw(gateway, path, viewer, { method: "HEAD", headers });
    expect([head.status, head.bytes.length, head.tag]).toEqual([200, 0, whole.tag]);
    expect(head.encoding).toBe("gzip");
    const known = { ...headers, "if-none-match": head.tag ?? "" };
    expect((await raw(gateway, path, viewer, { method: "HEAD", headers: known })).status).toBe(304);
  });

  test("the answer of an act is compressed, and has no tag", async ({ gateway, path }) => {
    const operator = await gateway.token("oli", ["operator"]);
    const headers = { "accept-encoding": "br", "if-none-match": "*" };
    const sent = { method: "POST", body: { reason: "wrong week" }, headers };
    const done = await raw(gateway, `${path}/cancel`, operator, sent);
    expect([done.status, done.encoding, done.tag]).toEqual([200, "br", undefined]);
    expect(done.headers).toMatchObject({ "cache-control": "no-store", vary: "Accept-Encoding" });
    expect(JSON.parse(brotliDecompressSync(done.bytes).toString())).toMatchObject({
      cancelled: { by: "oli" },
    });
  });
});

test("nothing else is compressed or tagged: short answers, secrets, tables, refusals, pages", async ({
  gateway,
  path,
  viewer,
}) => {
  const headers = { "accept-encoding": "gzip, br", "if-none-match": "*" };
  const short = await raw(gateway, "/v1/holds", viewer, { headers: { "accept-encoding": "br" } });
  expect([short.status, short.encoding]).toEqual([200, undefined]);
  const admin = await gateway.token("ada", ["admin"]);
  const body = { name: "new", roles: ["viewer"] };
  const secret = await raw(gateway, "/v1/tokens", admin, { method: "POST", body, headers });
  expect(secret.status).toBe(201);
  expect(secret.bytes.toString()).toContain('"token"');
  const others = [
    secret,
    await raw(gateway, `${path}/report?format=csv`, viewer, { headers }),
    await raw(gateway, "/v1/runs/none", viewer, { headers }),
    await raw(gateway, "/sign-in", viewer, { headers: { ...headers, accept: "text/html" } }),
    await raw(gateway, "/openapi.json", viewer, { headers }),
  ];
  for (const { status, encoding, tag } of others) {
    expect([encoding, tag]).toEqual([undefined, undefined]);
    expect(status).not.toBe(304);
  }
});
